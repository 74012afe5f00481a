package apiserver

import (
	"context"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/rbac"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// review answers the kinds that are asked, not stored.
func (s *Server) review(q *request) handler {
	if q.res.Group != authorizationv1.GroupName && q.res.Group != authenticationv1.GroupName {
		return nil
	}
	return func(ctx context.Context, q *request) error {
		obj, err := s.decodeBody(q, q.res.GroupVersionKind())
		if err != nil {
			return err
		}
		if err := q.place(accessorOf(obj)); err != nil {
			return err
		}
		wipeSystemFields(accessorOf(obj))
		s.track(q, nil, obj) // a review shows them too
		if errs := questionable(obj); len(errs) > 0 {
			// The error of a question names no kind, as it has no name.
			return apierrors.NewInvalid(schema.GroupKind{Group: q.res.Group}, "", errs)
		}
		if err := s.answerReview(ctx, obj); err != nil {
			return err
		}
		obj.GetObjectKind().SetGroupVersionKind(q.res.GroupVersionKind())
		return s.writeObject(q, http.StatusCreated, obj)
	}
}

// questionable is what is wrong with what is asked.
func questionable(obj runtime.Object) field.ErrorList {
	switch r := obj.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		return validation.SelfSubjectAccessReview(r)
	case *authorizationv1.SubjectAccessReview:
		return validation.SubjectAccessReview(r)
	case *authorizationv1.LocalSubjectAccessReview:
		return validation.LocalSubjectAccessReview(r)
	}
	return nil
}

// answerReview fills in the status of a review.
func (s *Server) answerReview(ctx context.Context, obj runtime.Object) error {
	user := userOf(ctx)
	switch r := obj.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		r.Status = s.mayAccess(user, r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	case *authorizationv1.SubjectAccessReview:
		r.Status = s.mayAccess(userIn(&r.Spec), r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	case *authorizationv1.LocalSubjectAccessReview:
		r.Status = s.mayAccess(userIn(&r.Spec), r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	case *authorizationv1.SelfSubjectRulesReview:
		if r.Spec.Namespace == "" {
			return apierrors.NewBadRequest("no namespace on request")
		}
		r.Status = s.rulesOf(user, r.Spec.Namespace)
	case *authenticationv1.SelfSubjectReview:
		*r = authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{UserInfo: user}}
		r.CreationTimestamp = s.now()
	case *authenticationv1.TokenReview:
		if r.Spec.Token == "" {
			return apierrors.NewBadRequest("token is required for TokenReview in authentication")
		}
		r.Status = s.reviewToken(ctx, &r.Spec)
	}
	return nil
}

// userIn is the user whom a review is about.
func userIn(spec *authorizationv1.SubjectAccessReviewSpec) authenticationv1.UserInfo {
	user := authenticationv1.UserInfo{Username: spec.User, UID: spec.UID, Groups: spec.Groups}
	for key, values := range spec.Extra {
		if user.Extra == nil {
			user.Extra = map[string]authenticationv1.ExtraValue{}
		}
		user.Extra[key] = authenticationv1.ExtraValue(values)
	}
	return user
}

func (s *Server) mayAccess(user authenticationv1.UserInfo, res *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) authorizationv1.SubjectAccessReviewStatus {
	a := &rbac.Attributes{User: user}
	if res != nil {
		a.Verb, a.Group, a.Version, a.Resource, a.Subresource = res.Verb, res.Group, res.Version, res.Resource, res.Subresource
		a.Namespace, a.Name = res.Namespace, res.Name
	} else {
		a.Verb, a.Path = path.Verb, path.Path
	}
	allowed, reason := s.allowed(a)
	return authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Reason: reason}
}

// rulesOf are all rules of a user in a namespace. The Node authorizer has no
// rules to list, so that a list is never known to be complete.
func (s *Server) rulesOf(user authenticationv1.UserInfo, namespace string) authorizationv1.SubjectRulesReviewStatus {
	out := authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}
	if isMaster(user) || s.allowsAll() {
		everything := []string{"*"}
		out.ResourceRules = append(out.ResourceRules, authorizationv1.ResourceRule{Verbs: everything, APIGroups: everything, Resources: everything})
		out.NonResourceRules = append(out.NonResourceRules, authorizationv1.NonResourceRule{Verbs: everything, NonResourceURLs: everything})
	}
	if slices.Contains(s.cfg.Authorization, ModeWebhook) {
		out.Incomplete, out.EvaluationError = true, "webhook authorizer does not support user rule resolution"
	}
	if s.authorizer == nil {
		return out
	}
	rules, err := s.authorizer.Rules(user, namespace)
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			out.ResourceRules = append(out.ResourceRules, authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			out.NonResourceRules = append(out.NonResourceRules, authorizationv1.NonResourceRule{Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs})
		}
	}
	if err != nil {
		out.Incomplete, out.EvaluationError = true, err.Error()
	}
	return out
}

// reviewToken tells whose token it is.
func (s *Server) reviewToken(ctx context.Context, spec *authenticationv1.TokenReviewSpec) authenticationv1.TokenReviewStatus {
	user, audiences, err := s.authenticator.Token(ctx, spec.Token, spec.Audiences)
	if err != nil {
		return authenticationv1.TokenReviewStatus{Error: "[invalid bearer token, " + err.Error() + "]"}
	}
	if len(spec.Audiences) > 0 && !slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(spec.Audiences, a) }) {
		return authenticationv1.TokenReviewStatus{}
	}
	return authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: audiences}
}
