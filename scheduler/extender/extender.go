// Package extender asks HTTP servers about scheduling, as kube-scheduler does
// with the extenders of its configuration: they filter the nodes that the plugins
// left over, score them, choose among preemption's candidates, or bind.
//
// Requests and answers are those of k8s.io/kube-scheduler/extender/v1.
package extender

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	configv1 "k8s.io/kube-scheduler/config/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name stands for all extenders where a plugin's name is wanted.
const Name = "Extender"

// defaultTimeout is kube-scheduler's for one request.
const defaultTimeout = 5 * time.Second

// Extender is one server.
type Extender struct {
	config  configv1.Extender
	client  *http.Client
	managed sets.Set[v1.ResourceName]
}

// New returns the extenders of a configuration, in their order.
func New(configs []configv1.Extender) ([]*Extender, error) {
	var all []*Extender
	for _, c := range configs {
		client, err := clientFor(c)
		if err != nil {
			return nil, fmt.Errorf("extender %s: %w", c.URLPrefix, err)
		}
		e := &Extender{config: c, client: client, managed: sets.New[v1.ResourceName]()}
		for _, r := range c.ManagedResources {
			e.managed.Insert(v1.ResourceName(r.Name))
		}
		all = append(all, e)
	}
	return all, nil
}

func clientFor(c configv1.Extender) (*http.Client, error) {
	config := &rest.Config{Host: c.URLPrefix, Timeout: cmp.Or(c.HTTPTimeout.Duration, defaultTimeout)}
	if t := c.TLSConfig; t != nil {
		config.TLSClientConfig = rest.TLSClientConfig{
			Insecure: t.Insecure, ServerName: t.ServerName, CertFile: t.CertFile, KeyFile: t.KeyFile, CAFile: t.CAFile,
			CertData: t.CertData, KeyData: t.KeyData, CAData: t.CAData,
		}
	}
	if c.EnableHTTPS && len(config.CAData) == 0 && config.CAFile == "" {
		config.Insecure = true // as kube-scheduler does
	}
	return rest.HTTPClientFor(config)
}

// IgnoredResources are those that extenders look after alone.
func IgnoredResources(configs []configv1.Extender) []string {
	var ignored []string
	for _, c := range configs {
		for _, r := range c.ManagedResources {
			if r.IgnoredByScheduler {
				ignored = append(ignored, r.Name)
			}
		}
	}
	return ignored
}

// Interested reports whether the extender is to be asked about a pod: always,
// unless it looks after certain resources only.
func (e *Extender) Interested(pod *v1.Pod) bool {
	if e.managed.Len() == 0 {
		return true
	}
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range containers {
			for _, list := range []v1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
				for name := range list {
					if e.managed.Has(name) {
						return true
					}
				}
			}
		}
	}
	return false
}

// Ignorable reports whether scheduling goes on without it when it fails.
func (e *Extender) Ignorable() bool { return e.config.Ignorable }

// Binds reports whether the extender binds pods in place of the scheduler.
func (e *Extender) Binds(pod *v1.Pod) bool { return e.config.BindVerb != "" && e.Interested(pod) }

// Preempts reports whether the extender has a say in preemption.
func (e *Extender) Preempts(pod *v1.Pod) bool {
	return e.config.PreemptVerb != "" && e.Interested(pod)
}

// Filter returns the nodes on which the extender lets the pod run, and why not on others.
func (e *Extender) Filter(ctx context.Context, pod *v1.Pod, nodes []*framework.NodeInfo) (feasible []*framework.NodeInfo, failed map[string]*framework.Status, err error) {
	if e.config.FilterVerb == "" {
		return nodes, nil, nil
	}
	var result extenderv1.ExtenderFilterResult
	if err := e.post(ctx, e.config.FilterVerb, e.args(pod, nodes), &result); err != nil {
		return nil, nil, err
	}
	if result.Error != "" {
		return nil, nil, errors.New(result.Error)
	}
	kept := sets.New[string]()
	switch {
	case e.config.NodeCacheCapable && result.NodeNames != nil:
		kept.Insert(*result.NodeNames...)
	case result.Nodes != nil:
		for i := range result.Nodes.Items {
			kept.Insert(result.Nodes.Items[i].Name)
		}
	}
	failed = map[string]*framework.Status{}
	for name, reason := range result.FailedNodes {
		failed[name] = framework.Reject(Name, reason)
	}
	for name, reason := range result.FailedAndUnresolvableNodes {
		failed[name] = framework.RejectForGood(Name, reason)
	}
	for _, node := range nodes {
		if kept.Has(node.Name()) {
			feasible = append(feasible, node)
		}
	}
	return feasible, failed, nil
}

// Prioritize returns what the extender adds to the score of nodes.
func (e *Extender) Prioritize(ctx context.Context, pod *v1.Pod, nodes []*framework.NodeInfo) (map[string]int64, error) {
	if e.config.PrioritizeVerb == "" {
		return nil, nil
	}
	var result extenderv1.HostPriorityList
	if err := e.post(ctx, e.config.PrioritizeVerb, e.args(pod, nodes), &result); err != nil {
		return nil, err
	}
	scores := map[string]int64{}
	for _, h := range result {
		scores[h.Host] += h.Score * e.config.Weight * (framework.MaxNodeScore / extenderv1.MaxExtenderPriority)
	}
	return scores, nil
}

// Bind has the extender bind a pod.
func (e *Extender) Bind(ctx context.Context, pod *v1.Pod, node string) error {
	var result extenderv1.ExtenderBindingResult
	err := e.post(ctx, e.config.BindVerb, &extenderv1.ExtenderBindingArgs{
		PodName: pod.Name, PodNamespace: pod.Namespace, PodUID: pod.UID, Node: node,
	}, &result)
	if err == nil && result.Error != "" {
		err = errors.New(result.Error)
	}
	return err
}

// Preempt returns the nodes that remain as candidates, each with the victims
// that the extender leaves, by uid.
func (e *Extender) Preempt(ctx context.Context, pod *v1.Pod, victims map[string]*extenderv1.Victims) (map[string]sets.Set[string], error) {
	args := &extenderv1.ExtenderPreemptionArgs{Pod: pod, NodeNameToVictims: victims}
	if e.config.NodeCacheCapable {
		args.NodeNameToVictims, args.NodeNameToMetaVictims = nil, map[string]*extenderv1.MetaVictims{}
		for node, v := range victims {
			meta := &extenderv1.MetaVictims{NumPDBViolations: v.NumPDBViolations}
			for _, victim := range v.Pods {
				meta.Pods = append(meta.Pods, &extenderv1.MetaPod{UID: string(victim.UID)})
			}
			args.NodeNameToMetaVictims[node] = meta
		}
	}
	var result extenderv1.ExtenderPreemptionResult
	if err := e.post(ctx, e.config.PreemptVerb, args, &result); err != nil {
		return nil, err
	}
	left := map[string]sets.Set[string]{}
	for node, v := range result.NodeNameToMetaVictims {
		left[node] = sets.New[string]()
		for _, victim := range v.Pods {
			left[node].Insert(victim.UID)
		}
	}
	return left, nil
}

func (e *Extender) args(pod *v1.Pod, nodes []*framework.NodeInfo) *extenderv1.ExtenderArgs {
	args := &extenderv1.ExtenderArgs{Pod: pod}
	if e.config.NodeCacheCapable {
		names := make([]string, len(nodes))
		for i, node := range nodes {
			names[i] = node.Name()
		}
		args.NodeNames = &names
		return args
	}
	args.Nodes = &v1.NodeList{}
	for _, node := range nodes {
		args.Nodes.Items = append(args.Nodes.Items, *node.Node)
	}
	return args
}

func (e *Extender) post(ctx context.Context, verb string, args, result any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("encoding a request to an extender: %w", err)
	}
	url := strings.TrimRight(e.config.URLPrefix, "/") + "/" + verb
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 512))
		return fmt.Errorf("failed %v with extender at URL %v, code %v: %s", verb, url, response.StatusCode, bytes.TrimSpace(text))
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil {
		return fmt.Errorf("reading the answer of extender %s: %w", url, err)
	}
	return nil
}
