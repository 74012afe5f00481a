package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/commands"
	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/manifest"
)

// post posts the files given with -f, shows their way to Running, and the
// steps that led there. What is refused does not keep the others from it.
func (f *upFlags) post(ctx context.Context, s *sandbox.Sandbox, std stdio) error {
	if len(f.files) == 0 {
		return nil
	}
	config := s.RESTConfig()
	config.UserAgent = "kubesim"
	config.WarningHandler = rest.NewWarningWriter(std.err, rest.WarningWriterOptions{Deduplicate: true})
	client, err := manifest.NewClient(config)
	if err != nil {
		return err
	}
	var refused []error
	for _, name := range f.files {
		posted, err := postFile(ctx, client, name, std)
		refused = append(refused, err)
		for _, p := range posted {
			if err := follow(ctx, client, p, std); err != nil {
				refused = append(refused, err)
				continue
			}
			if words, _ := manifest.Progress(p.Object); words == "" {
				continue // it runs nothing, so there is no way to tell of
			}
			if err := commands.PrintTimeline(ctx, std.out, s.RESTConfig(), p, s.Recorder().Spans()); err != nil {
				refused = append(refused, err)
			}
		}
	}
	return errors.Join(refused...)
}

// postFile posts all objects of a file, and tells which.
func postFile(ctx context.Context, client *manifest.Client, name string, std stdio) ([]*manifest.Posted, error) {
	in := std.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	objects, err := manifest.Decode(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var posted []*manifest.Posted
	var refused []error
	for _, obj := range objects {
		p, err := client.Post(ctx, obj)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		verb := "configured"
		if p.Created {
			verb = "created"
		}
		fmt.Fprintf(std.out, "%s %s\n", p.Name(), verb)
		posted = append(posted, p)
	}
	return posted, errors.Join(refused...)
}

// follow shows an object's progress until it runs.
func follow(ctx context.Context, client *manifest.Client, p *manifest.Posted, std stdio) error {
	began := time.Now()
	return client.Follow(ctx, p, func(words string) {
		fmt.Fprintf(std.out, "%s: %s (+%dms)\n", p.Name(), words, time.Since(began).Milliseconds())
	})
}
