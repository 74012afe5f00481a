package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/fault"
	"github.com/kubesim/kubesim/sandbox/manifest"
)

// faulty starts a cluster in a bubble, and posts nothing yet.
func faulty(t *testing.T) (*sandbox.Sandbox, kubernetes.Interface) {
	t.Helper()
	s := start(t, sandbox.Config{Nodes: 2})
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := s.RESTConfig()
	config.UserAgent = "test"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

// breakLink adds a fault.
func breakLink(t *testing.T, s *sandbox.Sandbox, f fault.Fault) fault.Fault {
	t.Helper()
	added, err := s.Faults().Add(f)
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	return added
}

// runningPods counts those of web that run, and all of them.
func runningPods(t *testing.T, client kubernetes.Interface) (running, all int) {
	t.Helper()
	pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		if p.Status.Phase == corev1.PodRunning {
			running++
		}
	}
	return running, len(pods.Items)
}

// TestFaultsHeal breaks each kind of link while a Deployment is on its way, and
// sees that it comes through when the fault is over: with as many pods as wanted,
// none lost, none doubled.
func TestFaultsHeal(t *testing.T) {
	tests := []struct {
		fault  fault.Fault
		stands bool // nothing runs while the fault lasts
	}{
		{fault.Fault{Kind: fault.Pause, Target: "replicaset-controller"}, true},
		{fault.Fault{Kind: fault.Pause, Target: fault.Controllers}, true},
		{fault.Fault{Kind: fault.Pause, Target: fault.Scheduler}, true},
		{fault.Fault{Kind: fault.Pause, Target: fault.Kubelets}, true},
		{fault.Fault{Kind: fault.Pause, Target: "kubelet/node-1"}, false},
		{fault.Fault{Kind: fault.Crash, Target: fault.Controllers}, true},
		{fault.Fault{Kind: fault.Crash, Target: fault.Scheduler}, true},
		{fault.Fault{Kind: fault.Crash, Target: fault.Kubelets}, true},
		{fault.Fault{Kind: fault.Crash, Target: "replicaset-controller", After: 1}, false},
		{fault.Fault{Kind: fault.Crash, Target: fault.Controllers, After: 3}, false},
		{fault.Fault{Kind: fault.Crash, Target: fault.Scheduler, After: 2}, false},
		{fault.Fault{Kind: fault.Crash, Target: fault.Kubelets, After: 1}, false},
		{fault.Fault{Kind: fault.Freeze, From: fault.Scheduler, Resource: "pods"}, true},
		{fault.Fault{Kind: fault.Freeze, From: fault.Controllers}, true},
		{fault.Fault{Kind: fault.Delay, By: metav1.Duration{Duration: 2 * time.Second}}, false},
		{fault.Fault{Kind: fault.Drop, From: fault.Controllers, Resource: "replicasets"}, true},
		{fault.Fault{Kind: fault.Drop, From: fault.Kubelets, Resource: "pods"}, true},
		{fault.Fault{Kind: fault.Drop, From: fault.Kubelets, Rate: 0.5}, false},
		{fault.Fault{Kind: fault.Cut, From: fault.Scheduler}, false}, // its lists go on
		{fault.Fault{Kind: fault.Answer, Code: 409, From: fault.Controllers, Verb: "create", Resource: "pods"}, true},
		{fault.Fault{Kind: fault.Answer, Code: 500, From: fault.Controllers, Rate: 0.3}, false},
		{fault.Fault{Kind: fault.Answer, Code: 410, From: fault.Controllers, Verb: "watch", Rate: 0.5}, false},
		{fault.Fault{Kind: fault.Answer, Code: 503, Resource: "pods/binding"}, true},
		{fault.Fault{Kind: fault.Answer, Code: 504, From: fault.Kubelets, Resource: "pods/status"}, true},
		{fault.Fault{Kind: fault.Slow, By: metav1.Duration{Duration: time.Second}, Verb: "create"}, false},
	}
	for _, test := range tests {
		name := strings.Trim(fmt.Sprint(test.fault.Kind, " ", test.fault.Target, test.fault.From, " ", test.fault.Code, test.fault.Resource, test.fault.After), " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, client := faulty(t)
				test.fault.For.Duration = 20 * time.Second
				breakLink(t, s, test.fault)
				objects, err := manifest.NewClient(s.RESTConfig())
				if err != nil {
					t.Fatal(err)
				}
				posting := make(chan struct{})
				go func() {
					defer close(posting)
					postAll(t.Context(), t, objects, "../testdata/web.yaml")
				}()
				time.Sleep(15 * time.Second)
				if test.stands {
					if running, _ := runningPods(t, client); running != 0 {
						t.Errorf("%d pods run during the fault", running)
					}
					if all := s.Faults().List(); len(all) != 1 || all[0].Hits == 0 && all[0].Kind != fault.Cut {
						t.Errorf("faults %+v, want one that has struck", all)
					}
				}
				<-posting
				time.Sleep(3 * time.Minute) // whatever is still to come
				if running, all := runningPods(t, client); running != 3 || all != 3 {
					t.Errorf("%d of %d pods run, want 3 of 3", running, all)
				}
				if left := s.Faults().List(); len(left) > 0 {
					t.Errorf("after its time there is %+v", left)
				}
			})
		})
	}
}

// TestManyFaults adds and clears faults side by side while work goes on.
func TestManyFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, client := faulty(t)
		objects, err := manifest.NewClient(s.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		kinds := []fault.Fault{
			{Kind: fault.Pause, Target: "deployment-controller"}, {Kind: fault.Crash, Target: fault.Controllers},
			{Kind: fault.Crash, Target: fault.Scheduler, After: 1}, {Kind: fault.Crash, Target: fault.Kubelets},
			{Kind: fault.Freeze, From: fault.Kubelets}, {Kind: fault.Drop, From: fault.Controllers, Rate: 0.5}, {Kind: fault.Cut, From: fault.Scheduler},
			{Kind: fault.Answer, Code: 500, From: fault.Controllers, Rate: 0.5},
		}
		var workers sync.WaitGroup
		for n, f := range kinds {
			workers.Go(func() {
				for ctx.Err() == nil {
					added, err := s.Faults().Add(f)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Duration(100*(n+1)) * time.Millisecond)
					s.Faults().Clear(added.ID)
					time.Sleep(time.Duration(150*(n+1)) * time.Millisecond)
				}
			})
		}
		postAll(t.Context(), t, objects, "../testdata/web.yaml")
		workers.Wait()
		time.Sleep(3 * time.Minute)
		if running, all := runningPods(t, client); running != 3 || all != 3 {
			t.Errorf("%d of %d pods run, want 3 of 3", running, all)
		}
		breakLink(t, s, fault.Fault{Kind: fault.Freeze}) // the end comes in spite of it
	})
}

// TestAnswers sees what a client gets of each code.
func TestAnswers(t *testing.T) {
	s, client := faulty(t)
	maps := client.CoreV1().ConfigMaps("default")
	for code, is := range map[int]func(error) bool{
		409: apierrors.IsConflict, 410: apierrors.IsResourceExpired, 500: apierrors.IsInternalError,
		503: apierrors.IsServiceUnavailable, 504: apierrors.IsTimeout,
	} {
		f := breakLink(t, s, fault.Fault{Kind: fault.Answer, Code: code, From: "test", Verb: "update", Resource: "configmaps", Name: "a"})
		// A client tries again by itself where Retry-After says so, for a while.
		_, err := maps.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.UpdateOptions{})
		if !is(err) {
			t.Errorf("%d: %v", code, err)
		}
		if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("%d: a request that is not meant: %v", code, err)
		}
		if cleared := s.Faults().Clear(f.ID); len(cleared) != 1 || cleared[0].Hits == 0 {
			t.Errorf("%d: cleared %+v, want one that has struck", code, cleared)
		}
	}
}

// TestFaultsAreChecked reads the errors.
func TestFaultsAreChecked(t *testing.T) {
	s, _ := faulty(t)
	for want, f := range map[string]fault.Fault{
		"kind":                    {Kind: "melt"},
		"target":                  {Kind: fault.Pause},
		`target "nobody"`:         {Kind: fault.Crash, Target: "nobody"},
		"code 418":                {Kind: fault.Answer, Code: 418},
		"by: required":            {Kind: fault.Slow},
		"rate 2":                  {Kind: fault.Drop, Rate: 2},
		"for -1s":                 {Kind: fault.Drop, For: metav1.Duration{Duration: -time.Second}},
		"verb: of no use":         {Kind: fault.Cut, Verb: "get"},
		"after: of no use":        {Kind: fault.Cut, After: 1},
		"from, verb, resource, n": {Kind: fault.Pause, Target: fault.Scheduler, From: "x"},
	} {
		if _, err := s.Faults().Add(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s…", f, err, want)
		}
	}
}
