# SPDX-License-Identifier: Apache-2.0
# The image of tavolad, tavola-worker and tavola, with what they load and nothing else: docs/installing.md.
ARG BASE=debian:12-slim
FROM ${BASE} AS build
WORKDIR /tavola
COPY . .
RUN ./dev build && apt-get install -y --no-install-recommends ca-certificates && sh packaging/image_root.sh build/bin /image

FROM scratch
COPY --from=build /image /
ENV PATH=/usr/bin
USER 10001:10001
CMD ["tavolad"]
