package validation_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/apiserver/validation"
)

func TestMetadata(t *testing.T) {
	check(t, true, validation.ConfigMap, func(*corev1.ConfigMap) {}, []changed{
		{name: "plain", new: `{}`},
		{name: "name", new: `{metadata: {name: A_}}`, want: []string{`metadata.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of`}},
		{name: "labels", new: `{metadata: {labels: {"-": "!"}, annotations: {"a b": ""}, finalizers: [x]}}`, want: []string{
			`metadata.labels: Invalid value: "-": name part must consist of alphanumeric characters`,
			`metadata.labels: Invalid value: "!": a valid label must be an empty string or consist of`,
			`metadata.annotations: Invalid value: "a b": name part must consist of`,
			`metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified`}},
		{name: "owners", new: `{metadata: {ownerReferences: [{apiVersion: v1, kind: Event, name: e, uid: u},
			{controller: true, apiVersion: v1, kind: K, name: a, uid: b}, {controller: true, apiVersion: v1, kind: K, name: c, uid: d}]}}`, want: []string{
			`metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`,
			`metadata.ownerReferences: Invalid value: [`}},
		{name: "rename", old: `{}`, new: `{metadata: {name: other}}`, want: []string{`metadata.name: Invalid value: "other": field is immutable`}},
		{name: "keys", new: `{data: {"a b": x}, binaryData: {"..": ""}}`, want: []string{
			`data[a b]: Invalid value: "a b": a valid config key`,
			`binaryData[..]: Invalid value: "..": must not be '..'`}},
		{name: "immutable", old: `{immutable: true, data: {a: b}}`, new: `{data: {a: c}}`, want: []string{
			"immutable: Forbidden: field is immutable when `immutable` is set",
			"data: Forbidden: field is immutable when `immutable` is set"}},
		{name: "twice", new: `{data: {a: x}, binaryData: {a: ""}}`, want: []string{
			`data[a]: Invalid value: "a": duplicate of key present in binaryData`}},
	})
}

func TestSecret(t *testing.T) {
	check(t, true, validation.Secret, func(s *corev1.Secret) {}, []changed{
		{name: "keys", new: `{type: kubernetes.io/tls, data: {tls.key: ""}}`, want: []string{
			`data[tls.crt]: Required value`}},
		{name: "basic", new: `{type: kubernetes.io/basic-auth}`, want: []string{
			`data[username]: Required value`,
			`data[password]: Required value`}},
		{name: "docker", new: `{type: kubernetes.io/dockerconfigjson, data: {.dockerconfigjson: "ew=="}}`, want: []string{
			`data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input`}},
		{name: "token", new: `{type: kubernetes.io/service-account-token}`, want: []string{
			`metadata.annotations[kubernetes.io/service-account.name]: Required value`}},
		{name: "type", old: `{type: Opaque}`, new: `{type: other}`, want: []string{
			`type: Invalid value: "other": field is immutable`}},
		{name: "immutable", old: `{type: Opaque, immutable: true, data: {a: ""}}`, new: `{type: Opaque, data: {}}`, want: []string{
			"immutable: Forbidden: field is immutable when `immutable` is set",
			"data: Forbidden: field is immutable when `immutable` is set"}},
	})
}

func TestNamespace(t *testing.T) {
	check(t, false, validation.Namespace, func(s *corev1.Namespace) {}, []changed{
		{name: "label", new: `{metadata: {name: a.b}}`, want: []string{
			`metadata.name: Invalid value: "a.b": must not contain dots`}},
		{name: "finalizers", new: `{spec: {finalizers: [x]}}`, want: []string{
			`spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified`}},
	})
}
