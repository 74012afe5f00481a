// Package imagelocality prefers nodes that have large images of the pod
// already. An image counts less the fewer nodes have it, lest a pod's replicas
// gather on the first node that pulled it.
package imagelocality

import (
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "ImageLocality"

// Sizes between which the score rises, the upper one for each container.
const (
	mb           int64 = 1024 * 1024
	least              = 23 * mb
	mostPerImage       = 1000 * mb
)

// Plugin implements framework.ScorePlugin.
type Plugin struct{}

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreScore implements framework.ScorePlugin.
func (Plugin) PreScore(pod *framework.PodInfo, snapshot *framework.Snapshot, _ []*framework.NodeInfo) framework.PodScorer {
	images := Images(pod.Pod)
	s := scorer{spread: map[string]float64{}, containers: int64(len(images))}
	for _, image := range images {
		if n := snapshot.ImageNodes[image]; n > 0 {
			s.spread[image] = float64(n) / float64(len(snapshot.Nodes))
		}
	}
	if len(s.spread) == 0 {
		return nil
	}
	s.images = images
	return s
}

type scorer struct {
	images     []string
	spread     map[string]float64 // share of the nodes that have the image
	containers int64
}

func (s scorer) Score(node *framework.NodeInfo) int64 {
	var sum int64
	for _, image := range s.images {
		sum += int64(float64(node.ImageSizes[image]) * s.spread[image])
	}
	return Score(sum, s.containers)
}

// Score is 0 up to 23 MB of images and 100 from 1000 MB a container on.
func Score(bytes, containers int64) int64 {
	most := mostPerImage * containers
	bytes = min(max(bytes, least), most)
	return framework.MaxNodeScore * (bytes - least) / (most - least)
}

// Images lists the images of a pod as nodes report them, with a tag or digest.
func Images(pod *v1.Pod) []string {
	var images []string
	add := func(image string) {
		if strings.LastIndex(image, ":") <= strings.LastIndex(image, "/") {
			image += ":latest"
		}
		images = append(images, image)
	}
	for i := range pod.Spec.InitContainers {
		add(pod.Spec.InitContainers[i].Image)
	}
	for i := range pod.Spec.Containers {
		add(pod.Spec.Containers[i].Image)
	}
	return images
}
