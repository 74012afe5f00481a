package dynamic

import (
	"context"
	"errors"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celplugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// expression is a piece of CEL with the types it may give.
type expression struct {
	name, text string
	types      []*celgo.Type
}

// GetExpression implements celplugin.ExpressionAccessor.
func (e *expression) GetExpression() string { return e.text }

// ReturnTypes implements celplugin.ExpressionAccessor.
func (e *expression) ReturnTypes() []*celgo.Type { return e.types }

// GetName implements celplugin.NamedExpressionAccessor.
func (e *expression) GetName() string { return e.name }

var (
	boolean      = []*celgo.Type{celgo.BoolType}
	text         = []*celgo.Type{celgo.StringType}
	textOrNull   = []*celgo.Type{celgo.StringType, celgo.NullType}
	whateverType = []*celgo.Type{celgo.AnyType, celgo.DynType}
)

// newCompiler makes the compiler of one policy, which knows its variables.
func newCompiler(variables []admissionregistrationv1.Variable, declared celplugin.OptionalVariableDeclarations) (*celplugin.CompositedCompiler, error) {
	compiler, err := celplugin.NewCompositedCompiler(baseEnvironment())
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		compiler.CompileAndStoreVariable(&expression{name: v.Name, text: v.Expression, types: whateverType}, declared, environment.StoredExpressions)
	}
	return compiler, nil
}

// newConditions compiles the match conditions of a policy, nil if it has none.
func newConditions(compiler celplugin.ConditionCompiler, conditions []admissionregistrationv1.MatchCondition, declared celplugin.OptionalVariableDeclarations,
	failurePolicy *admissionregistrationv1.FailurePolicyType, kind, name string,
) matchconditions.Matcher {
	if len(conditions) == 0 {
		return nil
	}
	expressions := make([]celplugin.ExpressionAccessor, len(conditions))
	for i := range conditions {
		expressions[i] = (*matchconditions.MatchCondition)(&conditions[i])
	}
	return matchconditions.NewMatcher(compiler.CompileCondition(expressions, declared, environment.StoredExpressions), failurePolicy, "policy", kind, name)
}

// policyBinding is what both kinds of bindings have.
type policyBinding struct {
	name     string
	policy   string
	criteria *criteria // nil: all that the policy is about
	params   *admissionregistrationv1.ParamRef
	actions  []admissionregistrationv1.ValidationAction
}

// matches finds out whether a binding is about a request that its policy is about.
func (b *policyBinding) matches(ctx context.Context, source Source, a *admission.Attributes) (bool, error) {
	if b.criteria == nil {
		return true, nil
	}
	_, ok, err := b.criteria.match(ctx, source, a, false)
	return ok, err
}

// parameters are the objects that a binding names; one that is nil if the policy
// or the binding knows of none.
func parameters(ctx context.Context, source Source, kind *admissionregistrationv1.ParamKind, ref *admissionregistrationv1.ParamRef, namespace string) ([]runtime.Object, error) {
	if kind == nil || ref == nil {
		return []runtime.Object{nil}, nil
	}
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	gvr, namespaced, err := source.Resource(gvk)
	if err != nil {
		return nil, fmt.Errorf("paramKind kind `%v` not known", kind)
	}
	switch {
	case !namespaced && ref.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case !namespaced:
		namespace = ""
	case ref.Namespace != "":
		namespace = ref.Namespace
	case namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	}
	found, err := referenced(ctx, source, gvr, ref, namespace)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == admissionregistrationv1.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	for i, obj := range found { // CEL reads the kind from the object
		if obj.GetObjectKind().GroupVersionKind().Empty() {
			found[i] = obj.DeepCopyObject()
			found[i].GetObjectKind().SetGroupVersionKind(gvk)
		}
	}
	return found, nil
}

func referenced(ctx context.Context, source Source, gvr schema.GroupVersionResource, ref *admissionregistrationv1.ParamRef, namespace string) ([]runtime.Object, error) {
	if ref.Name != "" {
		obj, err := source.Get(ctx, gvr, namespace, ref.Name)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []runtime.Object{obj}, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return nil, err
	}
	all, err := source.Cached(gvr, namespace)
	if err != nil {
		return nil, err
	}
	var out []runtime.Object
	for _, obj := range all {
		if m := metaOf(obj); m != nil && selector.Matches(labels.Set(m.GetLabels())) {
			out = append(out, obj)
		}
	}
	return out, nil
}

// denial is the answer of a policy that refuses. Errors name the object as
// Forbidden does, with the reason of the policy.
func denial(in *admission.Attributes, message string, reason metav1.StatusReason, code int32) error {
	err := admission.Forbidden(in, errors.New(message))
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	status.ErrStatus.Reason, status.ErrStatus.Code = reason, code
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	return status
}
