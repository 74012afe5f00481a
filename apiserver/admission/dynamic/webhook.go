package dynamic

import (
	"context"
	"fmt"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celplugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// defaultTimeout is how long a webhook may take that says nothing of it.
const defaultTimeout = 10 * time.Second

// hook is one webhook of one configuration.
type hook struct {
	name          string
	client        admissionregistrationv1.WebhookClientConfig
	criteria      *criteria
	ignoreFailure bool
	sideEffects   admissionregistrationv1.SideEffectClass
	timeout       time.Duration
	versions      []string // of AdmissionReview
	again         bool     // reinvocationPolicy IfNeeded
	conditions    matchconditions.Matcher
}

// common are the fields that both kinds of webhooks have.
type common struct {
	name          string
	client        admissionregistrationv1.WebhookClientConfig
	rules         []admissionregistrationv1.RuleWithOperations
	failurePolicy *admissionregistrationv1.FailurePolicyType
	sideEffects   *admissionregistrationv1.SideEffectClass
	timeout       *int32
	versions      []string
	conditions    []admissionregistrationv1.MatchCondition
}

func newHook(kind string, c common, criteria *criteria) *hook {
	h := &hook{
		name: c.name, client: c.client, criteria: criteria, versions: c.versions, timeout: defaultTimeout,
		ignoreFailure: c.failurePolicy != nil && *c.failurePolicy == admissionregistrationv1.Ignore,
	}
	if c.sideEffects != nil {
		h.sideEffects = *c.sideEffects
	}
	if c.timeout != nil {
		h.timeout = time.Duration(*c.timeout) * time.Second
	}
	if len(c.conditions) > 0 {
		expressions := make([]celplugin.ExpressionAccessor, len(c.conditions))
		for i := range c.conditions {
			expressions[i] = (*matchconditions.MatchCondition)(&c.conditions[i])
		}
		compiled := conditionCompiler().CompileCondition(expressions, celplugin.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
		h.conditions = matchconditions.NewMatcher(compiled, c.failurePolicy, "webhook", kind, c.name)
	}
	return h
}

// conditionCompiler is made when the first condition is compiled, as CEL's
// environment is large.
var conditionCompiler = sync.OnceValue(func() celplugin.ConditionCompiler {
	return celplugin.NewConditionCompiler(baseEnvironment())
})

var baseEnvironment = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

func mutatingHooks(obj runtime.Object) ([]*hook, error) {
	config, ok := obj.(*admissionregistrationv1.MutatingWebhookConfiguration)
	if !ok {
		return nil, fmt.Errorf("a webhook configuration is a %T", obj)
	}
	var out []*hook
	for i := range config.Webhooks {
		w := &config.Webhooks[i]
		criteria, err := newCriteria(w.Rules, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector)
		if err != nil {
			return nil, err
		}
		h := newHook("admit", common{
			w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions, w.MatchConditions,
		}, criteria)
		h.again = w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy
		out = append(out, h)
	}
	return out, nil
}

func validatingHooks(obj runtime.Object) ([]*hook, error) {
	config, ok := obj.(*admissionregistrationv1.ValidatingWebhookConfiguration)
	if !ok {
		return nil, fmt.Errorf("a webhook configuration is a %T", obj)
	}
	var out []*hook
	for i := range config.Webhooks {
		w := &config.Webhooks[i]
		criteria, err := newCriteria(w.Rules, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector)
		if err != nil {
			return nil, err
		}
		out = append(out, newHook("validate", common{
			w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.SideEffects, w.TimeoutSeconds, w.AdmissionReviewVersions, w.MatchConditions,
		}, criteria))
	}
	return out, nil
}

// compiled keeps what has been made of an object until that changes.
type compiled[T any] struct {
	compile func(runtime.Object) (T, error)
	mu      sync.Mutex
	known   map[string]made[T] // by name
}

type made[T any] struct {
	version string
	value   T
	err     error
}

func newCompiled[T any](compile func(runtime.Object) (T, error)) *compiled[T] {
	return &compiled[T]{compile: compile, known: map[string]made[T]{}}
}

// of compiles each object whose resourceVersion is new, and forgets those that are gone.
func (c *compiled[T]) of(objects []runtime.Object) ([]T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(objects) == 0 {
		clear(c.known)
		return nil, nil
	}
	now := make(map[string]made[T], len(objects))
	out := make([]T, 0, len(objects))
	for _, obj := range objects {
		m := metaOf(obj)
		known, ok := c.known[m.GetName()]
		if !ok || known.version != m.GetResourceVersion() {
			known = made[T]{version: m.GetResourceVersion()}
			known.value, known.err = c.compile(obj)
		}
		now[m.GetName()] = known
		if known.err != nil {
			return nil, fmt.Errorf("%s: %w", m.GetName(), known.err)
		}
		out = append(out, known.value)
	}
	c.known = now
	return out, nil
}

// registration is the group of webhooks and policies, which must not be subject
// to themselves: a mistake could never be mended.
const registration = admissionregistrationv1.GroupName

func exempt(a *admission.Attributes) bool { return a.GVR.Group == registration }

// hooks finds the webhooks that a request is shown to.
type hooks struct {
	source   Source
	resource schema.GroupVersionResource
	compiled *compiled[[]*hook]
}

// call is a webhook with what it is shown.
type call struct {
	*hook
	gvr schema.GroupVersionResource
}

func (h *hooks) matching(ctx context.Context, a *admission.Attributes) ([]call, error) {
	if exempt(a) {
		return nil, nil
	}
	configurations, err := h.source.Cached(h.resource, "")
	if err != nil || len(configurations) == 0 {
		return nil, err
	}
	all, err := h.compiled.of(byName(configurations))
	if err != nil {
		return nil, err
	}
	var out []call
	for _, configuration := range all {
		for _, hook := range configuration {
			gvr, ok, err := hook.criteria.match(ctx, h.source, a, true)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, call{hook, gvr})
			}
		}
	}
	return out, nil
}

// wanted evaluates the match conditions.
func (c call) wanted(ctx context.Context, in *invocation) (bool, error) {
	if c.conditions == nil {
		return true, nil
	}
	result := c.conditions.Match(ctx, in.attributes(), nil, in.source.Authorizer())
	return result.Matches, result.Error
}
