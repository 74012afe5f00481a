// Package yaml reads YAML as Kubernetes means it, on top of gopkg.in/yaml.v3:
// YAML 1.1 turned into JSON, where y, yes and on are booleans, 0400 is octal and
// keys are strings. Duplicate keys are reported, the last one wins.
package yaml
