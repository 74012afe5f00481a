package dynamic

import (
	"context"
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	celplugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// MutatingPolicy changes objects as a policy's expressions say.
type MutatingPolicy struct {
	source   Source
	policies *compiled[*mutatingPolicy]
	bindings *compiled[*policyBinding]
}

// NewMutatingPolicy makes the plugin.
func NewMutatingPolicy(source Source) *MutatingPolicy {
	return &MutatingPolicy{source: source, policies: newCompiled(compileMutating), bindings: newCompiled(compileMutatingBinding)}
}

// Name implements admission.Plugin.
func (*MutatingPolicy) Name() string { return "MutatingAdmissionPolicy" }

// mutatingPolicy is a policy with its expressions compiled.
type mutatingPolicy struct {
	*admissionregistrationv1.MutatingAdmissionPolicy
	criteria   *criteria
	compiler   *celplugin.CompositedCompiler
	conditions matchconditions.Matcher
	patchers   []patch.Patcher
}

func compileMutating(obj runtime.Object) (*mutatingPolicy, error) {
	p, ok := obj.(*admissionregistrationv1.MutatingAdmissionPolicy)
	if !ok {
		return nil, fmt.Errorf("a policy is a %T", obj)
	}
	criteria, err := newPolicyCriteria(p.Spec.MatchConstraints)
	if err != nil {
		return nil, err
	}
	declared := celplugin.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	compiler, err := newCompiler(p.Spec.Variables, declared)
	if err != nil {
		return nil, err
	}
	out := &mutatingPolicy{MutatingAdmissionPolicy: p, criteria: criteria, compiler: compiler}
	out.conditions = newConditions(compiler, p.Spec.MatchConditions, declared, p.Spec.FailurePolicy, "mutate", p.Name)
	declared.HasPatchTypes = true
	for _, m := range p.Spec.Mutations {
		switch {
		case m.JSONPatch != nil:
			evaluator := compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, declared, environment.StoredExpressions)
			out.patchers = append(out.patchers, patch.NewJSONPatcher(evaluator))
		case m.ApplyConfiguration != nil:
			evaluator := compiler.CompileMutatingEvaluator(&patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}, declared, environment.StoredExpressions)
			out.patchers = append(out.patchers, patch.NewApplyConfigurationPatcher(evaluator))
		}
	}
	return out, nil
}

func compileMutatingBinding(obj runtime.Object) (*policyBinding, error) {
	b, ok := obj.(*admissionregistrationv1.MutatingAdmissionPolicyBinding)
	if !ok {
		return nil, fmt.Errorf("a policy's binding is a %T", obj)
	}
	criteria, err := newPolicyCriteria(b.Spec.MatchResources)
	return &policyBinding{name: b.Name, policy: b.Spec.PolicyName, criteria: criteria, params: b.Spec.ParamRef}, err
}

// Admit applies all policies that have a binding for the request. In a second
// round only those with reinvocationPolicy IfNeeded are applied.
func (p *MutatingPolicy) Admit(ctx context.Context, a *admission.Attributes) error {
	if exempt(a) || a.Object == nil {
		return nil
	}
	policies, bindings, err := currentPolicies(p.source, p.policies, p.bindings, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
	if err != nil {
		return err
	}
	for _, policy := range policies {
		if a.Again() && policy.Spec.ReinvocationPolicy != admissionregistrationv1.IfNeededReinvocationPolicy {
			continue
		}
		gvr, ok, err := policy.criteria.match(ctx, p.source, a, true)
		if err != nil {
			if err := policy.failed(a, nil, fmt.Errorf("failed to configure policy: %w", err)); err != nil {
				return err
			}
			continue
		}
		if !ok {
			continue
		}
		for _, binding := range bindings {
			if binding.policy != policy.Name {
				continue
			}
			if err := p.bound(ctx, policy, binding, a, gvr); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound applies a policy for one of its bindings.
func (p *MutatingPolicy) bound(ctx context.Context, policy *mutatingPolicy, b *policyBinding, a *admission.Attributes, gvr schema.GroupVersionResource) error {
	ok, err := b.matches(ctx, p.source, a)
	if err == nil && !ok {
		return nil
	}
	var params []runtime.Object
	if err == nil {
		params, err = parameters(ctx, p.source, policy.Spec.ParamKind, b.params, a.Namespace)
	}
	if err != nil {
		return policy.failed(a, b, fmt.Errorf("failed to configure binding: %w", err))
	}
	for _, param := range params {
		in, err := invoke(ctx, p.source, a, gvr)
		if err != nil {
			return err
		}
		changed, err := policy.apply(ctx, in, param)
		if err != nil {
			if err := policy.failed(a, b, err); err != nil {
				return err
			}
			continue
		}
		if changed == nil {
			continue
		}
		p.source.Default(changed, a.GVR)
		if equality.Semantic.DeepEqual(a.Object, changed) {
			continue
		}
		if err := a.Replace(policy.Name, changed); err != nil {
			return err
		}
		a.AskAgain()
	}
	return nil
}

// failed is what an error of a policy leads to.
func (p *mutatingPolicy) failed(a *admission.Attributes, b *policyBinding, err error) error {
	if p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == admissionregistrationv1.Ignore {
		return nil
	}
	with := ""
	if b != nil {
		with = fmt.Sprintf(" with binding '%s'", b.name)
	}
	return denial(a, fmt.Sprintf("policy '%s'%s denied request: %v", p.Name, with, err), metav1.StatusReasonInvalid, http.StatusForbidden)
}

// apply is the object, in the requested version, with all mutations of the policy;
// nil if its conditions leave it out.
func (p *mutatingPolicy) apply(ctx context.Context, in *invocation, param runtime.Object) (runtime.Object, error) {
	with := celplugin.OptionalVariableBindings{VersionedParams: param, Authorizer: in.source.Authorizer()}
	attributes := in.attributes()
	ctx = p.compiler.CreateContext(ctx)
	if p.conditions != nil {
		result := p.conditions.Match(ctx, attributes, param, with.Authorizer)
		if result.Error != nil || !result.Matches {
			return nil, result.Error
		}
	}
	types, err := in.source.Types(in.gvr)
	if err != nil {
		return nil, err
	}
	for _, patcher := range p.patchers {
		out, err := patcher.Patch(ctx, patch.Request{
			MatchedResource: in.gvr, VersionedAttributes: attributes, ObjectInterfaces: interfaces(in.object),
			OptionalVariables: with, Namespace: celplugin.CreateNamespaceObject(in.namespaceObj), TypeConverter: types,
		}, celconfig.RuntimeCELCostBudget)
		if err != nil {
			return nil, err
		}
		if out, err = typed(out, in); err != nil {
			return nil, err
		}
		attributes.UpdateObject(out)
	}
	return in.source.Convert(attributes.VersionedObject.Object(), in.asRequested)
}

// typed turns what a patch gives into what the object was.
func typed(obj runtime.Object, in *invocation) (runtime.Object, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if _, custom := in.object.(*unstructured.Unstructured); custom || !ok {
		return obj, nil
	}
	body, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return in.source.Decode(body, in.gvk)
}

// objectInterfaces make and know the one kind of an object.
type objectInterfaces struct {
	k8sadmission.ObjectInterfaces
	like runtime.Object
}

func interfaces(like runtime.Object) k8sadmission.ObjectInterfaces {
	return &objectInterfaces{ObjectInterfaces: k8sadmission.NewObjectInterfacesFromScheme(runtime.NewScheme()), like: like}
}

// GetObjectCreater implements k8sadmission.ObjectInterfaces.
func (o *objectInterfaces) GetObjectCreater() runtime.ObjectCreater { return o }

// GetObjectTyper implements k8sadmission.ObjectInterfaces.
func (o *objectInterfaces) GetObjectTyper() runtime.ObjectTyper { return o }

// New implements runtime.ObjectCreater.
func (o *objectInterfaces) New(schema.GroupVersionKind) (runtime.Object, error) {
	return empty(o.like), nil
}

// ObjectKinds implements runtime.ObjectTyper.
func (o *objectInterfaces) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{o.like.GetObjectKind().GroupVersionKind()}, false, nil
}

// Recognizes implements runtime.ObjectTyper.
func (o *objectInterfaces) Recognizes(gvk schema.GroupVersionKind) bool {
	return gvk == o.like.GetObjectKind().GroupVersionKind()
}
