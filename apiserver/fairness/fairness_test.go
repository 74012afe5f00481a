package fairness

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	authenticationv1 "k8s.io/api/authentication/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/utils/ptr"
)

// standard is what every cluster has.
func standard() ([]*flowcontrolv1.FlowSchema, []*flowcontrolv1.PriorityLevelConfiguration) {
	return slices.Concat(bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas),
		slices.Concat(bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations)
}

func by(user string, groups ...string) *Request {
	return &Request{User: authenticationv1.UserInfo{Username: user, Groups: append(groups, "system:authenticated")}, Verb: "list", Resource: "pods", Namespace: "default"}
}

func TestClassify(t *testing.T) {
	d := New(600)
	d.Configure(standard())
	lease := by("system:kube-scheduler")
	lease.Verb, lease.Group, lease.Resource, lease.Namespace = "update", "coordination.k8s.io", "leases", "kube-system"
	probe := &Request{User: authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}}, Verb: "get", Path: "/readyz"}
	for _, test := range []struct {
		name    string
		request *Request
		schema  string
		level   string
	}{
		{"a master", by("root", "system:masters"), "exempt", "exempt"},
		{"a user", by("jane"), "global-default", "global-default"},
		{"a ServiceAccount", by("system:serviceaccount:default:x", "system:serviceaccounts"), "service-accounts", "workload-low"},
		{"a controller's ServiceAccount", by("system:serviceaccount:kube-system:x", "system:serviceaccounts"), "kube-system-service-accounts", "workload-high"},
		{"a kubelet", by("system:node:n", "system:nodes"), "system-nodes", "system"},
		{"leader election", lease, "system-leader-election", "leader-election"},
		{"a probe", probe, "probes", "exempt"},
	} {
		s, l := d.classify(test.request)
		if s == nil || s.name != test.schema || l != d.levels[test.level] {
			t.Errorf("%s: schema %+v, want %s of level %s", test.name, s, test.schema, test.level)
		}
	}
}

// one has a level of two seats and three places per user.
func one() *Dispenser {
	d := New(2)
	d.Configure([]*flowcontrolv1.FlowSchema{{
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "l"},
			DistinguisherMethod:        &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects:      []flowcontrolv1.Subject{{Kind: "Group", Group: &flowcontrolv1.GroupSubject{Name: "*"}}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, Namespaces: []string{"*"}}},
			}},
		},
	}}, []*flowcontrolv1.PriorityLevelConfiguration{level1()})
	return d
}

func level1() *flowcontrolv1.PriorityLevelConfiguration {
	l := &flowcontrolv1.PriorityLevelConfiguration{Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
		Type: flowcontrolv1.PriorityLevelEnablementLimited,
		Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: ptr.To[int32](1),
			LimitResponse: flowcontrolv1.LimitResponse{
				Type: flowcontrolv1.LimitResponseTypeQueue, Queuing: &flowcontrolv1.QueuingConfiguration{Queues: 2, QueueLengthLimit: 3},
			},
		},
	}}
	l.Name = "l"
	return l
}

// TestTurns lets a greedy user come first and a modest one later: they take turns.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := one()
		var mu sync.Mutex
		var order []string
		acquire := func(user string) {
			go func() {
				_, err := d.Acquire(t.Context(), by(user))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					user += " refused"
				}
				order = append(order, user)
			}()
			synctest.Wait()
		}
		for range 6 { // two at work, three wait, one is refused
			acquire("greedy")
		}
		acquire("modest")
		acquire("third") // no queue is left for it
		for range 4 {
			d.Release(&Seat{level: d.levels["l"]})
			synctest.Wait()
		}
		want := []string{"greedy", "greedy", "greedy refused", "third refused", "greedy", "modest", "greedy", "greedy"}
		if !slices.Equal(order, want) {
			t.Errorf("order %q\nwant  %q", order, want)
		}
	})
}

func TestWhoGivesUpLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := one()
		for range 2 {
			if _, err := d.Acquire(t.Context(), by("a")); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := d.Acquire(ctx, by("b"))
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		l := d.levels["l"]
		if len(l.flows) != 0 || len(l.turns) != 0 || l.executing != 2 {
			t.Errorf("level %+v", l)
		}
	})
}

// TestMoreSeats lets those in who wait when the level grows.
func TestMoreSeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := one()
		var served atomic.Int32
		for range 4 {
			go func() {
				if _, err := d.Acquire(t.Context(), by("a")); err == nil {
					served.Add(1)
				}
			}()
			synctest.Wait()
		}
		if n := served.Load(); n != 2 {
			t.Fatalf("%d served", n)
		}
		d.seats = 4
		d.Configure([]*flowcontrolv1.FlowSchema{}, []*flowcontrolv1.PriorityLevelConfiguration{level1()})
		synctest.Wait()
		if n := served.Load(); n != 4 {
			t.Errorf("%d served, want all 4", n)
		}
	})
}
