package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	flowcontrolbootstrap "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubesim/kubesim/apiserver/fairness"
	"github.com/kubesim/kubesim/apiserver/rbac"
)

// queueTimeout is how long a request may wait for its turn, as in kube-apiserver.
const queueTimeout = 15 * time.Second

var (
	flowSchemas    = flowcontrolv1.SchemeGroupVersion.WithResource("flowschemas")
	priorityLevels = flowcontrolv1.SchemeGroupVersion.WithResource("prioritylevelconfigurations")
)

// keepFlowControl creates the objects of API priority and fairness that every
// cluster has, keeps to those that there are, and tells in the status of a
// FlowSchema whether its priority level is there.
func (s *Server) keepFlowControl() {
	if err := s.ensureFlowControl(s.ended); err != nil && s.ended.Err() == nil {
		s.log.Error("Failed to create the objects of priority and fairness", "err", err)
	}
	schemas := s.cache.Resource(s.table.get(flowSchemas.Group, flowSchemas.Version, flowSchemas.Resource).prefix)
	levels := s.cache.Resource(s.table.get(priorityLevels.Group, priorityLevels.Version, priorityLevels.Resource).prefix)
	for {
		schemaChanged, levelChanged := schemas.Changed(), levels.Changed()
		s.configureFairness()
		if err := s.noteDangling(s.ended); err != nil && s.ended.Err() == nil {
			s.log.Error("Failed to update a FlowSchema", "err", err)
		}
		select {
		case <-schemaChanged:
		case <-levelChanged:
		case <-s.ended.Done():
			return
		}
	}
}

// configureFairness takes over the objects as they are now; without any the
// bootstrap ones count.
func (s *Server) configureFairness() {
	schemas, err := listCached[*flowcontrolv1.FlowSchema](s, flowSchemas, "")
	if err != nil {
		s.log.Error("Failed to read the FlowSchemas", "err", err)
	}
	levels, err := listCached[*flowcontrolv1.PriorityLevelConfiguration](s, priorityLevels, "")
	if err != nil {
		s.log.Error("Failed to read the PriorityLevelConfigurations", "err", err)
	}
	if len(schemas) == 0 || len(levels) == 0 {
		schemas = slices.Concat(flowcontrolbootstrap.MandatoryFlowSchemas, flowcontrolbootstrap.SuggestedFlowSchemas)
		levels = slices.Concat(flowcontrolbootstrap.MandatoryPriorityLevelConfigurations, flowcontrolbootstrap.SuggestedPriorityLevelConfigurations)
	}
	s.fairness.Configure(schemas, levels)
}

// fairly lets a request wait for its turn, or refuses it with 429. What stays open
// for long, such as a watch, needs no seat.
func (s *Server) fairly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := attributesOf(r, userOf(r.Context()))
		if isMaster(a.User) || isLong(a) { // exempt in every cluster
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), queueTimeout)
		seat, err := s.fairness.Acquire(ctx, &fairness.Request{
			User: a.User, Verb: a.Verb, Group: a.Group, Resource: a.FullResource(), Namespace: a.Namespace, Path: a.Path,
		})
		cancel()
		if err != nil {
			s.writeError(w, r, form{media: mediaJSON}, apierrors.NewTooManyRequests("too many requests, please try again later", 1))
			return
		}
		defer s.fairness.Release(seat)
		w.Header().Set(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID, string(seat.Schema))
		w.Header().Set(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID, string(seat.Level))
		next.ServeHTTP(w, r)
	})
}

// isLong tells whether a request stays open for as long as the client likes.
func isLong(a *rbac.Attributes) bool { return a.Verb == "watch" || isStream(a.Subresource) }

// isStream tells whether a subresource is a conversation.
func isStream(subresource string) bool {
	return slices.Contains([]string{"exec", "attach", "portforward", "proxy", "log"}, subresource)
}

func (s *Server) ensureFlowControl(ctx context.Context) error {
	levels := slices.Concat(flowcontrolbootstrap.MandatoryPriorityLevelConfigurations, flowcontrolbootstrap.SuggestedPriorityLevelConfigurations)
	schemas := slices.Concat(flowcontrolbootstrap.MandatoryFlowSchemas, flowcontrolbootstrap.SuggestedFlowSchemas)
	var errs []error
	for _, level := range levels {
		errs = append(errs, s.ensure(ctx, priorityLevels, level.DeepCopy()))
	}
	for _, schema := range schemas {
		errs = append(errs, s.ensure(ctx, flowSchemas, schema.DeepCopy()))
	}
	return errors.Join(errs...)
}

// noteDangling brings the condition of every FlowSchema up to date.
func (s *Server) noteDangling(ctx context.Context) error {
	lister := cacheLister{s}
	all, err := lister.List(ctx, flowSchemas, "")
	if err != nil {
		return err
	}
	var errs []error
	for _, obj := range all {
		schema := obj.(*flowcontrolv1.FlowSchema)
		want := s.dangling(schema)
		if slices.ContainsFunc(schema.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) bool {
			return c.Type == want.Type && c.Status == want.Status && c.Message == want.Message
		}) {
			continue
		}
		err := lister.UpdateStatus(ctx, flowSchemas, "", schema.Name, func(obj runtime.Object) error {
			setFlowSchemaCondition(obj.(*flowcontrolv1.FlowSchema), want)
			return nil
		})
		if !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// dangling is the condition that tells whether the priority level is there.
func (s *Server) dangling(schema *flowcontrolv1.FlowSchema) flowcontrolv1.FlowSchemaCondition {
	level := schema.Spec.PriorityLevelConfiguration.Name
	c := flowcontrolv1.FlowSchemaCondition{
		Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse, LastTransitionTime: s.now(), Reason: "Found",
		Message: fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level),
	}
	res := s.table.get(priorityLevels.Group, priorityLevels.Version, priorityLevels.Resource)
	if s.cache.Resource(res.prefix).Get(res.key("", level)) == nil {
		c.Status, c.Reason = flowcontrolv1.ConditionTrue, "NotFound"
		c.Message = fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q but there is no such object", level)
	}
	return c
}

func setFlowSchemaCondition(schema *flowcontrolv1.FlowSchema, want flowcontrolv1.FlowSchemaCondition) {
	for i, c := range schema.Status.Conditions {
		if c.Type == want.Type {
			if c.Status == want.Status {
				want.LastTransitionTime = c.LastTransitionTime
			}
			schema.Status.Conditions[i] = want
			return
		}
	}
	schema.Status.Conditions = append(schema.Status.Conditions, want)
}
