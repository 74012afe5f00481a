package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"
)

// maxBody is how much of a body is logged.
const maxBody = 3 << 20

// IDHeader is where a client may say what its request is called in the log, and
// where the server tells it.
const IDHeader = "Audit-Id"

// Log takes entries.
type Log struct {
	policy audit.PolicyRuleEvaluator
	clock  clock.PassiveClock
	mu     sync.Mutex
	out    io.Writer
	failed func(error)
}

// New makes a Log that writes to out what the policy in a file wants, or the
// metadata of every request without one. failed is told when it can't.
func New(out io.Writer, policyFile string, clock clock.PassiveClock, failed func(error)) (*Log, error) {
	rules := &auditinternal.Policy{Rules: []auditinternal.PolicyRule{{Level: auditinternal.LevelMetadata}}}
	if policyFile != "" {
		var err error
		if rules, err = policy.LoadPolicyFromFile(policyFile); err != nil {
			return nil, err
		}
	}
	return &Log{policy: policy.NewPolicyRuleEvaluator(rules), clock: clock, out: out, failed: failed}, nil
}

// Entry is what the log says of one request. A nil Entry is of one that is not logged.
type Entry struct {
	log   *Log
	rules audit.RequestAuditConfig
	event auditv1.Event

	mu                sync.Mutex
	request, response *capture
	media             string // of the request
	attributes        authorizer.Attributes
}

type entryKey struct{}

// From is the entry of the request of a context, nil if there is none.
func From(ctx context.Context) *Entry {
	e, _ := ctx.Value(entryKey{}).(*Entry)
	return e
}

// Begin starts an entry for a request, unless the policy does not want one.
func (l *Log) Begin(r *http.Request, a authorizer.Attributes, user authenticationv1.UserInfo, as *authenticationv1.UserInfo) (*Entry, *http.Request) {
	rules := l.policy.EvaluatePolicyRule(a)
	if rules.Level == auditinternal.LevelNone {
		return nil, r
	}
	now := metav1.NewMicroTime(l.clock.Now())
	e := &Entry{log: l, rules: rules, attributes: a, media: r.Header.Get("Content-Type"), event: auditv1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: auditv1.SchemeGroupVersion.String(), Kind: "Event"},
		Level:    auditv1.Level(rules.Level), AuditID: idOf(r), RequestURI: r.URL.RequestURI(), Verb: a.GetVerb(),
		User: user, ImpersonatedUser: as, SourceIPs: sourceIPs(r), UserAgent: r.UserAgent(), RequestReceivedTimestamp: now,
	}}
	if a.IsResourceRequest() {
		e.event.ObjectRef = &auditv1.ObjectReference{
			Resource: a.GetResource(), Namespace: a.GetNamespace(), Name: a.GetName(),
			APIGroup: a.GetAPIGroup(), APIVersion: a.GetAPIVersion(), Subresource: a.GetSubresource(),
		}
		if rules.Level != auditinternal.LevelMetadata && r.Body != nil {
			e.request = &capture{}
			r.Body = &readCapture{r.Body, e.request}
		}
	}
	e.write(auditv1.StageRequestReceived)
	return e, r.WithContext(context.WithValue(r.Context(), entryKey{}, e))
}

func idOf(r *http.Request) types.UID {
	if id := r.Header.Get(IDHeader); id != "" && len(id) <= 64 {
		return types.UID(id)
	}
	return uuid.NewUUID()
}

// sourceIPs are where the request says that it comes from, and where it does.
func sourceIPs(r *http.Request) []string {
	var out []string
	for part := range strings.SplitSeq(r.Header.Get("X-Forwarded-For"), ",") {
		if ip := net.ParseIP(strings.TrimSpace(part)); ip != nil {
			out = append(out, ip.String())
		}
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && !slices.Contains(out, host) {
		out = append(out, host)
	}
	return out
}

// Annotate adds what somebody has decided about the request.
func (e *Entry) Annotate(key, value string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.event.Annotations == nil {
		e.event.Annotations = map[string]string{}
	}
	e.event.Annotations[key] = value
}

// Writer makes the ResponseWriter through which the answer passes.
func (e *Entry) Writer(w http.ResponseWriter) http.ResponseWriter {
	if e == nil {
		return w
	}
	w.Header().Set(IDHeader, string(e.event.AuditID))
	e.response = &capture{}
	return &writeCapture{ResponseWriter: w, entry: e}
}

// started notes the code, and that the answer of a watch begins.
func (e *Entry) started(code int) {
	e.mu.Lock()
	e.event.ResponseStatus = &metav1.Status{Code: int32(code)}
	e.mu.Unlock()
	if e.attributes.GetVerb() == "watch" && code < http.StatusBadRequest {
		e.write(auditv1.StageResponseStarted)
	}
}

// End writes the last line, after the answer or a panic.
func (e *Entry) End(panicked bool) {
	if e == nil {
		return
	}
	stage := auditv1.StageResponseComplete
	if panicked {
		stage = auditv1.StagePanic
	}
	e.mu.Lock()
	if e.event.ResponseStatus == nil {
		e.event.ResponseStatus = &metav1.Status{Code: http.StatusOK}
	}
	if e.event.ResponseStatus.Code >= http.StatusBadRequest {
		var status metav1.Status
		if json.Unmarshal(e.response.Bytes(), &status) == nil && status.Kind == "Status" {
			status.TypeMeta = metav1.TypeMeta{}
			e.event.ResponseStatus = &status
		}
	}
	e.event.RequestObject = e.object(e.request.Bytes(), e.media)
	if e.rules.Level == auditinternal.LevelRequestResponse && e.attributes.GetVerb() != "watch" {
		e.event.ResponseObject = e.object(e.response.Bytes(), "application/json")
	}
	e.mu.Unlock()
	e.write(stage)
}

// object is a body in JSON; nil for what is none.
func (e *Entry) object(body []byte, media string) *runtime.Unknown {
	if len(body) == 0 {
		return nil
	}
	if strings.Contains(media, "yaml") {
		converted, err := yaml.YAMLToJSON(body)
		if err != nil {
			return nil
		}
		body = converted
	}
	var content map[string]any
	if json.Unmarshal(body, &content) != nil {
		return nil
	}
	if e.rules.OmitManagedFields {
		omitManagedFields(content)
		converted, err := json.Marshal(content)
		if err != nil {
			return nil
		}
		body = converted
	}
	return &runtime.Unknown{Raw: bytes.Clone(body), ContentType: runtime.ContentTypeJSON}
}

func omitManagedFields(content map[string]any) {
	if m, ok := content["metadata"].(map[string]any); ok {
		delete(m, "managedFields")
	}
	items, _ := content["items"].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			omitManagedFields(object)
		}
	}
}

// write adds a line, unless the policy leaves the stage out.
func (e *Entry) write(stage auditv1.Stage) {
	if slices.Contains(e.rules.OmitStages, auditinternal.Stage(stage)) {
		return
	}
	e.mu.Lock()
	event := e.event
	event.Annotations = maps.Clone(e.event.Annotations)
	e.mu.Unlock()
	event.Stage, event.StageTimestamp = stage, metav1.NewMicroTime(e.log.clock.Now())
	line, err := json.Marshal(event)
	if err != nil {
		e.log.failed(err)
		return
	}
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	if _, err := e.log.out.Write(append(line, '\n')); err != nil {
		e.log.failed(err)
	}
}

// capture is the beginning of a body. A nil capture holds nothing.
type capture struct{ bytes.Buffer }

func (c *capture) add(p []byte) {
	if room := maxBody - c.Len(); room > 0 {
		c.Write(p[:min(room, len(p))])
	}
}

// Bytes is what there is.
func (c *capture) Bytes() []byte {
	if c == nil {
		return nil
	}
	return c.Buffer.Bytes()
}

type readCapture struct {
	io.ReadCloser
	to *capture
}

func (r *readCapture) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.to.add(p[:n])
	return n, err
}

type writeCapture struct {
	http.ResponseWriter
	entry *Entry
	code  int
}

// WriteHeader implements http.ResponseWriter.
func (w *writeCapture) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
		w.entry.started(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *writeCapture) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.WriteHeader(http.StatusOK)
	}
	wanted := w.entry.rules.Level == auditinternal.LevelRequestResponse || w.code >= http.StatusBadRequest
	if wanted && w.entry.attributes.GetVerb() != "watch" {
		w.entry.response.add(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writeCapture) Unwrap() http.ResponseWriter { return w.ResponseWriter }
