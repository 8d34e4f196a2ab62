// SPDX-License-Identifier: Apache-2.0

// Renders the chart as Helm does, with Go's own templates and those functions of Helm that the chart uses: the folder of the
// chart as argument, what templates see as JSON on standard input, and the files by name as JSON on standard output.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
)

type files struct{ folder string }

func (f files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(f.folder, name))
	if err != nil {
		panic(err)
	}
	return string(text)
}

func number(value any) int {
	switch given := value.(type) {
	case int:
		return given
	case float64:
		return int(given)
	default:
		parsed, err := strconv.Atoi(fmt.Sprint(value))
		if err != nil {
			panic(err)
		}
		return parsed
	}
}

func isEmpty(value any) bool {
	truth, _ := template.IsTrue(value)
	return !truth
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	folder := os.Args[1]
	seen := map[string]any{}
	check(json.NewDecoder(os.Stdin).Decode(&seen))
	seen["Files"] = files{folder}
	all := template.New("chart").Option("missingkey=error")
	functions := template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text strings.Builder
			err := all.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		// JSON is YAML.
		"toYaml": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
		"nindent": func(spaces int, text string) string {
			pad := strings.Repeat(" ", spaces)
			return "\n" + pad + strings.ReplaceAll(text, "\n", "\n"+pad)
		},
		"quote":   func(value any) string { return strconv.Quote(fmt.Sprint(value)) },
		"default": func(usual, value any) any { if isEmpty(value) { return usual }; return value },
		"required": func(sentence string, value any) (any, error) {
			if isEmpty(value) {
				return nil, errors.New(sentence)
			}
			return value, nil
		},
		"fail": func(sentence string) (string, error) { return "", errors.New(sentence) },
		"int":  number,
		"add": func(values ...any) int {
			sum := 0
			for _, value := range values {
				sum += number(value)
			}
			return sum
		},
		"untilStep": func(first, end, step int) []int {
			steps := []int{}
			for at := first; at < end; at += step {
				steps = append(steps, at)
			}
			return steps
		},
		"list": func(values ...any) []any { return values },
		"dict": func(pairs ...any) map[string]any {
			made := map[string]any{}
			for i := 0; i+1 < len(pairs); i += 2 {
				made[fmt.Sprint(pairs[i])] = pairs[i+1]
			}
			return made
		},
	}
	names, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		check(err)
		_, err = all.New(filepath.Base(name)).Funcs(functions).Parse(string(text))
		check(err)
	}
	rendered := map[string]string{}
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		var text strings.Builder
		check(all.ExecuteTemplate(&text, filepath.Base(name), seen))
		rendered[filepath.Base(name)] = text.String()
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}
