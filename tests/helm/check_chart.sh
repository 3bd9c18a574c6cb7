#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The chart is clean, renders in each of its ways, refuses bad values, and every variable it sets is one that
# the program it starts knows.
#
# usage: check_chart.sh ROOT TOOLS_FOLDER BIN_FOLDER
# shellcheck disable=SC2086 # $tls is a list of words
set -eu
here=$(dirname "$0")
chart=$1/helm/tavola
bin=$3
code=0
helm=$(sh "$here/get_helm.sh" "$2") || code=$?
if [ "$code" != 0 ]; then
    printf '%s\n' "$helm"
    exit "$code"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HELM_CACHE_HOME="$work/cache" HELM_CONFIG_HOME="$work/config" HELM_DATA_HOME="$work/data"

tls='--set server.tls.existingSecret=served' # without, the chart is refused

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

render() { # FILE ARGUMENT...
    out=$work/$1
    shift
    "$helm" template demo "$chart" --namespace demo $tls "$@" >"$out" || fail "does not render: $*"
}

count() { # FILE PATTERN
    grep -cE "$2" "$work/$1" || :
}

expect() { # FILE PATTERN HOW_OFTEN
    got=$(count "$1" "$2")
    [ "$got" = "$3" ] || fail "$1: \"$2\" is there $got times, expected $3"
}

refuse() { # ARGUMENT...
    if "$helm" template demo "$chart" $tls "$@" >/dev/null 2>"$work/refusal"; then
        fail "not refused: $*"
    fi
}

"$helm" lint --strict --quiet "$chart" || fail "helm lint --strict has objections"

render http --set server.httpPort=10002
expect http 'value: "0.0.0.0:10002"$' 1
expect http 'name: http$' 3
expect http 'targetPort: 10002$' 2
render http_inside --set server.httpPort=10002,server.authentication=none,server.extraContainers[0].name=proxy,server.extraContainers[0].image=p,service.targetPort=8443
expect http_inside 'value: "127.0.0.1:10002"$' 1
expect http_inside 'name: http$' 0

render plain
expect plain 'TAVOLA_HTTP_LISTEN' 0
expect plain '^kind: Deployment$' 2
expect plain '^kind: Job$' 1
expect plain '^kind: Service$' 2
expect plain 'clusterIP: None$' 1
expect plain 'name: demo-tavola-headless$' 1
expect plain '^  replicas: 2$' 2
expect plain '^kind: HorizontalPodAutoscaler$' 0
expect plain '^kind: Secret$' 0
expect plain 'enableServiceLinks: false' 4
expect plain 'runAsNonRoot: true' 4
expect plain '^            grpc:$' 3
expect plain 'httpGet: \{ path: /live, port: health \}' 2
expect plain 'httpGet: \{ path: /ready, port: health \}' 1
expect plain 'Probe:$' 6
expect plain 'name: TAVOLA_WORKER_HEALTH_LISTEN$' 1
expect plain '^kind: PodDisruptionBudget$' 0
expect plain 'initContainers:' 0

expect plain 'prometheus.io/scrape: "true"' 2
expect plain 'name: TAVOLA_(WORKER_)?METRICS_LISTEN$' 2

expect plain 'value: required$' 1
expect plain '0\.0\.0\.0:50051"$' 1
expect plain 'containerPort: 50051$' 1
expect plain 'appProtocol' 0

render wrapped --set server.wrappingKey.existingSecret=wrapping
expect plain 'TAVOLA_WRAPPING_KEY' 0
expect wrapped 'name: TAVOLA_WRAPPING_KEY_FILE$' 1
expect wrapped 'value: /etc/tavola/wrapping/wrapping.key$' 1
expect wrapped 'mountPath: /etc/tavola/wrapping$' 1
refuse --set server.wrappingKey.key=

# On all addresses without TLS: only where a value says so by its name.
tls=
refuse
grep -q 'insecure.allowWithoutTls=true' "$work/refusal" || fail "the refusal does not say how TLS is done without"
refuse --set insecure.allowWithoutTls=false
render insecure --set insecure.allowWithoutTls=true
expect insecure '0\.0\.0\.0:50051"$' 1
expect insecure 'TAVOLA_TLS_' 0
expect insecure 'appProtocol' 2
render open --set server.authentication=none
expect open 'value: none$' 1
expect open '127\.0\.0\.1:50051"$' 1
expect open 'containerPort: 50051$' 0
expect open 'TAVOLA_TLS_' 0
refuse --set server.tls.clientCertificates=true
tls='--set server.tls.existingSecret=served'

render tls --set server.tls.clientCertificates=true --set postgres.caSecret=authority --set migration.initContainer=true
expect tls 'name: TAVOLA_TLS_(CERT|KEY|CLIENT_CA)$' 3
expect tls 'value: /etc/tavola/tls/(tls.crt|tls.key|ca.crt)$' 4
expect tls 'secretName: served$' 2
expect tls 'secretName: authority$' 4
expect tls 'mountPath: /etc/tavola/postgres$' 6
expect tls 'mountPath: /etc/tavola/tls$' 2
expect tls 'appProtocol' 0

render no_metrics --set metrics.enabled=false --set podAnnotations.a=b
expect no_metrics 'METRICS_LISTEN|prometheus.io' 0
expect no_metrics '^        a: b$' 2

render no_hook --set migration.hook=false --set migration.initContainer=true
expect no_hook '^kind: Job$' 0
expect no_hook 'initContainers:' 2

render everything --set podDisruptionBudget.enabled=true --set server.settings.TAVOLA_LOG_LEVEL=debug \
    --set server.extraContainers[0].name=proxy --set server.extraContainers[0].image=proxy:1 \
    --set service.targetPort=8443 --set imagePullSecrets[0].name=registry
expect everything '^kind: PodDisruptionBudget$' 2
expect everything 'name: proxy$' 1
expect everything 'targetPort: 8443' 2
expect everything 'name: TAVOLA_LOG_LEVEL$' 1

# The pod of `helm test`.
expect plain 'helm.sh/hook: test$' 1
expect plain 'command: \[tavola, doctor, --all, --no-probe\]$' 1
render tested --set test.tokenSecret=token
expect tested 'command: \[tavola, doctor, --all\]$' 1
expect tested 'name: TAVOLA_TOKEN$' 1

# An upgrade must not change the number of pods that an autoscaler or a person has set.
render scaled --set server.autoscaling.enabled=true --set worker.autoscaling.enabled=true \
    --set worker.autoscaling.maxReplicas=20
expect scaled '^kind: HorizontalPodAutoscaler$' 2
expect scaled '  maxReplicas: (8|20)$' 2
expect scaled '^  replicas:' 0
render owned --set server.replicas=null
expect owned '^  replicas: 2$' 1
expect owned '^kind: HorizontalPodAutoscaler$' 0

# KEDA's object names the worker's own scaler; two autoscalers are refused.
render keda --set worker.keda.enabled=true --set worker.keda.targetLagSeconds=9 --set networkPolicy.enabled=true
expect keda '^kind: ScaledObject$' 1
expect keda 'scalerAddress: demo-tavola-scaler\.[a-z]+:50053$' 1
expect keda 'targetLagSeconds: "9"$' 1
expect keda 'name: TAVOLA_WORKER_SCALER_LISTEN$' 1
expect keda 'port: 50053$' 2
expect keda '^  replicas: 2$' 1
expect plain 'ScaledObject|SCALER_LISTEN' 0
refuse --set worker.keda.enabled=true --set worker.autoscaling.enabled=true
refuse --set worker.keda.minReplicas=0
refuse --set worker.keda.targetLagSeconds=soon
refuse --set server.keda.enabled=true

render redis_tls --set redis.tlsSecret=certificates --set redis.clientCertificate=true \
    --set redis.sentinelPasswordKey=sentinel
expect plain 'TAVOLA_REDIS_CA|TAVOLA_SENTINEL' 0
expect redis_tls 'secretName: certificates$' 3
expect redis_tls 'mountPath: /etc/tavola/redis$' 3
expect redis_tls 'name: TAVOLA_(REDIS_(CA|CERT|KEY)|SENTINEL_PASSWORD)$' 12

# What is scheduled, named and annotated by values of its own.
digest=sha256:$(printf %064d 7)
render own --set nameOverride=shelf --set image.digest="$digest" --set server.priorityClassName=high \
    --set server.annotations.a=b --set worker.podAnnotations.c=d --set podAnnotations.c=e \
    --set worker.strategy.type=Recreate --set server.extraEnv[0].name=TZ --set server.extraEnv[0].value=UTC \
    --set worker.extraVolumes[0].name=scratch --set worker.extraVolumeMounts[0].name=scratch \
    --set worker.extraVolumeMounts[0].mountPath=/scratch --set server.topologySpreadConstraints[0].topologyKey=rack
expect own 'name: demo-shelf-(server|worker|migrate)$' 3
expect own "image: tavola@$digest\$" 4
expect own 'priorityClassName: high$' 1
expect own '^    a: b$' 1
expect own '^        c: d$' 1
expect own '^        c: e$' 1
expect own 'type: Recreate$' 1
expect own 'name: TZ$' 1
expect own 'name: scratch$' 2
expect own 'topologyKey: ' 3
expect plain 'topologyKey: ' 4
expect plain 'priorityClassName|strategy:' 0
render named --set fullnameOverride=shelf
expect named 'name: shelf-(server|worker|migrate)$' 3

render monitored --set metrics.serviceMonitor.enabled=true --set metrics.rules.enabled=true \
    --set metrics.dashboard.enabled=true --set metrics.rules.labels.release=prometheus
expect monitored '^kind: (ServiceMonitor|PrometheusRule|ConfigMap)$' 3
expect monitored '      - alert: ' "$(grep -c '      - alert: ' "$chart/monitoring/alerts.yaml")"
expect monitored 'release: prometheus$' 1
expect monitored 'targetPort: metrics$' 1
expect plain 'monitoring.coreos.com' 0
"$helm" template demo "$chart" $tls --set metrics.dashboard.enabled=true --show-only templates/monitoring.yaml |
    sed '1,/tavola.json: |/d' | jq -e '.panels | length > 10' >"$work/panels" || fail "the dashboard is not JSON"

render walled --set networkPolicy.enabled=true --set metrics.port=9999 --set networkPolicy.databasePorts='{5433}' \
    --set networkPolicy.callers[0].podSelector.matchLabels.calls=yes
expect walled '^kind: NetworkPolicy$' 4
expect walled 'port: 50051$' 4
expect walled 'port: 9999$' 2
expect walled 'port: 5433$' 4
expect walled 'calls: ' 1

render development -f "$chart/values-development.yaml"
expect development '^kind: Deployment$' 4
expect development '^kind: Secret$' 1
expect development 'initContainers:' 2
expect development '^kind: Job$' 0
expect plain 'postgres:15|redis:7' 0

# The migration's Job, where the mesh, the nodes or the queue of pods ask for something.
render job --set migration.annotations.a=b --set migration.podAnnotations.c=d --set migration.nodeSelector.disk=fast \
    --set migration.tolerations[0].key=batch --set migration.priorityClassName=high
for line in '    a: b$' '        c: d$' '        disk: fast$' 'key: batch$' 'priorityClassName: high$'; do
    expect job "$line" 1
done

# `helm test` reaches the server behind a wall, and what else server and worker connect to can be named.
render walled_test --set networkPolicy.enabled=true --set networkPolicy.callers[0].podSelector.matchLabels.calls=yes \
    --set networkPolicy.extraEgress[0].ports[0].port=4318
expect walled_test 'component: test$' 4
expect walled_test 'port: 4318$' 2

# Every variable that the chart itself sets is refused among the settings, where it would be set twice.
grep -hoE 'name: TAVOLA_[A-Z_]+$' "$chart"/templates/*.yaml "$chart"/templates/*.tpl | sed 's/name: //' | sort -u |
    grep -vxE 'TAVOLA_(TARGET|CA|TOKEN)' >"$work/own"
[ "$(grep -c . "$work/own")" -ge 17 ] || fail "the chart's own settings were not found"
while read -r setting; do
    refuse --set "server.settings.$setting=x"
    refuse --set "worker.extraEnv[0].name=$setting"
done <"$work/own"

# Values that are good by themselves and not together.
refuse_saying() { # WORDS ARGUMENT...
    words=$1
    shift
    refuse "$@"
    grep -q "$words" "$work/refusal" || fail "the refusal of $* says: $(cat "$work/refusal")"
}
refuse_saying 'server.autoscaling.minReplicas is 9' --set server.autoscaling.enabled=true,server.autoscaling.minReplicas=9
refuse_saying 'worker.keda.minReplicas is 9' --set worker.keda.enabled=true,worker.keda.minReplicas=9
refuse_saying 'worker.resources.requests.cpu' --set worker.autoscaling.enabled=true,worker.resources.requests.cpu=null
refuse_saying 'metrics.port and server.port are both 50051' --set metrics.port=50051
refuse_saying 'server.healthPort and server.httpPort are both 50052' --set server.httpPort=50052
refuse_saying 'worker.healthPort and worker.keda.port are both 50052' --set worker.keda.enabled=true,worker.keda.port=50052
refuse_saying 'metrics.serviceMonitor.enabled' --set metrics.enabled=false,metrics.serviceMonitor.enabled=true
render no_metrics_port --set metrics.enabled=false --set metrics.port=50051
render all_may_go --set podDisruptionBudget.enabled=true --set podDisruptionBudget.maxUnavailable=50%
refuse --set podDisruptionBudget.maxUnavailable=some
refuse --set podDisruptionBudget.maxUnavailable=-1
refuse --set service.type=Everywhere
refuse --set terminationGracePeriodSeconds=0
refuse --set image.pullPolicy=Sometimes
refuse --set fullnameOverride="$(printf %041d 1)"
refuse --set networkPolicy.extraEgress=all
refuse --set migration.backoffLimit=-1
refuse --set unknown=1

refuse --set image.digest=latest
refuse --set networkPolicy.port=1
refuse --set metrics.serviceMonitor.interval=often
refuse --set server.extraEnv[0].name=TAVOLA_LISTEN
refuse --set server.extraVolumes[0].path=/x
refuse --set worker.replicas=-1
refuse --set worker.autoscaling.target=1
refuse --set worker.settings.TAVOLA_WORKER_HEALTH_LISTEN=0.0.0.0:1
refuse --set server.port=70000
refuse --set server.httpPort=-1
refuse --set server.settings.threads=3
refuse --set server.settings.TAVOLA_LISTEN=0.0.0.0:50051
refuse --set server.settings.TAVOLA_AUTHENTICATION=none
refuse --set server.authentication=maybe
refuse --set insecure.allowPlainText=true
refuse --set postgres.existingSecret=
refuse --set postgres.password=secret

# What stands in the manifests against what the programs know: an unknown setting would stop their start.
for program in tavolad tavola-worker tavola; do
    "$bin/$program" --print-settings >"$work/known"
    sed -n "/command: \[$program[],]/,/resources:/s/^ *- name: \(TAVOLA_[A-Z_]*\)\$/\1/p" "$work/redis_tls" "$work/tls" "$work/keda" "$work/tested" >"$work/set"
    [ -s "$work/set" ] || fail "the chart gives $program no settings"
    unknown=$(grep -vxFf "$work/known" "$work/set" || :)
    [ -z "$unknown" ] || fail "the chart gives $program what it does not know: $unknown"
done
