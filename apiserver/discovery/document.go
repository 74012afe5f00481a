package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// document is one answer, ready to be sent.
type document struct {
	body        []byte
	contentType string
	etag        string // quoted; "" for the documents that have none
}

// newDocument encodes an answer. It holds API types alone, which have a JSON form.
func newDocument(v any) document {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err))
	}
	return document{body: append(body, '\n'), contentType: "application/json"}
}

func newAggregated(list *apidiscoveryv2.APIGroupDiscoveryList) document {
	d := newDocument(list)
	d.contentType = aggregatedType
	d.etag = strconv.Quote(fmt.Sprintf("%X", sha512.Sum512(d.body)))
	return d
}

func (d document) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if d.etag != "" {
		header.Set("ETag", d.etag)
		header.Set("Vary", "Accept")
		header.Set("Cache-Control", "public")
		if r.Header.Get("If-None-Match") == d.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	header.Set("Content-Type", d.contentType)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(d.body) // a client that is gone needs no answer
}

// documents are all documents of one state of the table.
type documents struct {
	rows           []*kinds.Kind
	remotes        []Remote
	groups         document
	aggregated     document
	coreAggregated document
	byPath         map[string]document
}

func newDocuments(rows []*kinds.Kind, remotes []Remote) *documents {
	groups := grouped(rows, remotes)
	d := &documents{rows: rows, remotes: remotes, byPath: map[string]document{}}
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	core, others := newAggregatedList(), newAggregatedList()
	for _, g := range groups {
		for _, v := range g.versions {
			if v.remote != nil {
				continue
			}
			d.byPath[g.path(v)] = newDocument(resourceList(g, v))
		}
		if g.name == "" {
			core.Items = append(core.Items, aggregatedGroup(g))
			continue
		}
		others.Items = append(others.Items, aggregatedGroup(g))
		described := apiGroup(g)
		list.Groups = append(list.Groups, described)
		described.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
		d.byPath["/apis/"+g.name] = newDocument(described)
	}
	d.groups = newDocument(list)
	d.coreAggregated, d.aggregated = newAggregated(core), newAggregated(others)
	return d
}
