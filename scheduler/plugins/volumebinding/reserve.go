package volumebinding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubesim/kubesim/scheduler/framework"
)

const pollInterval = 100 * time.Millisecond

// reservations are the choices for pods that have a node but are not bound yet.
type reservations struct {
	mu    sync.Mutex
	byPod map[types.UID][]Choice
}

func newReservations() *reservations { return &reservations{byPod: map[types.UID][]Choice{}} }

// taken returns the volumes that are set aside, by name, as a map of the caller's own.
func (r *reservations) taken() map[string]*v1.PersistentVolume {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := map[string]*v1.PersistentVolume{}
	for _, choices := range r.byPod {
		for _, c := range choices {
			if c.Volume != nil {
				taken[c.Volume.Name] = c.Volume
			}
		}
	}
	return taken
}

func (r *reservations) set(uid types.UID, choices []Choice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(choices) == 0 {
		delete(r.byPod, uid)
		return
	}
	r.byPod[uid] = choices
}

func (r *reservations) get(uid types.UID) []Choice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byPod[uid]
}

// Reserve implements framework.BindPreparer.
func (pl *Plugin) Reserve(pod *framework.PodInfo, node *framework.NodeInfo) (slow bool, err error) {
	sorted, status := pl.sort(pod.Pod)
	if !status.OK() {
		return false, errors.New(status.Message())
	}
	if len(sorted.delayed) == 0 {
		return false, nil
	}
	choices, ok := Choose(sorted.delayed, node.Node, pl.volumes(), pl.reserved.taken(), pl.class)
	if !ok {
		return false, errors.New(noVolume)
	}
	pl.reserved.set(pod.Pod.UID, choices)
	return true, nil
}

// Unreserve implements framework.BindPreparer.
func (pl *Plugin) Unreserve(pod *framework.PodInfo) { pl.reserved.set(pod.Pod.UID, nil) }

// PreBind implements framework.BindPreparer. The volume controller completes
// what it begins.
func (pl *Plugin) PreBind(ctx context.Context, pod *framework.PodInfo, node string) error {
	choices := pl.reserved.get(pod.Pod.UID)
	for _, c := range choices {
		if err := pl.begin(ctx, c, node); err != nil {
			return err
		}
	}
	deadline := pl.handle.Clock.Now().Add(pl.timeout)
	ticker := pl.handle.Clock.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		done, err := pl.allBound(choices, node)
		if done || err != nil {
			return err
		}
		if pl.handle.Clock.Now().After(deadline) {
			return errors.New("binding volumes: context deadline exceeded")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C():
		}
	}
}

// begin points a volume to its claim, or asks for one to be provisioned.
func (pl *Plugin) begin(ctx context.Context, c Choice, node string) error {
	if c.Volume == nil {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid":         c.Claim.UID,
			"annotations": map[string]string{volumehelpers.AnnSelectedNode: node},
		}})
		if err != nil {
			return fmt.Errorf("encoding a selected node: %w", err)
		}
		_, err = pl.handle.Client.CoreV1().PersistentVolumeClaims(c.Claim.Namespace).
			Patch(ctx, c.Claim.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	volume, dirty, err := volumehelpers.GetBindVolumeToClaim(c.Volume, c.Claim)
	if err != nil || !dirty {
		return err
	}
	_, err = pl.handle.Client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{})
	return err
}

// allBound reports whether the claims are bound. It fails if a claim is gone
// or its provisioner has given the node up.
func (pl *Plugin) allBound(choices []Choice, node string) (bool, error) {
	for _, c := range choices {
		claim, err := pl.handle.Claims.PersistentVolumeClaims(c.Claim.Namespace).Get(c.Claim.Name)
		if err != nil {
			return false, err
		}
		if isBound(claim) {
			continue
		}
		// An older claim is one whose annotation is yet to be seen.
		selected := claim.Annotations[volumehelpers.AnnSelectedNode]
		if c.Volume == nil && selected != node && claim.ResourceVersion != c.Claim.ResourceVersion {
			return false, fmt.Errorf("selectedNode annotation value %q not set to scheduled node %q", selected, node)
		}
		return false, nil
	}
	return true, nil
}
