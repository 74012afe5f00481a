package bench

import (
	"log/slog"

	"k8s.io/client-go/rest"
)

// Config says what to measure, and how much of it. Zero sizes get the defaults
// with which the published figures are made.
type Config struct {
	Objects    int // ConfigMaps created, read, updated and deleted
	Clients    int // at work at once
	ListPods   int // pods in the list
	Lists      int // how often it is read
	Watchers   int // on the fan-out
	FanOut     int // objects created while they watch
	Replicas   int // of the Deployment
	Logger     *slog.Logger
	RESTConfig *rest.Config // the API server
}

func (c *Config) setDefaults() {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	for _, size := range []struct {
		field *int
		value int
	}{
		{&c.Objects, 5000}, {&c.Clients, 16}, {&c.ListPods, 5000}, {&c.Lists, 20},
		{&c.Watchers, 50}, {&c.FanOut, 2000}, {&c.Replicas, 1000},
	} {
		if *size.field == 0 {
			*size.field = size.value
		}
	}
}
