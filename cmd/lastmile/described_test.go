package main

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// described compares the answer to a request that succeeded with the description of the program that runs in the
// test's process; without one, as when the program is a child, nothing is compared.
func (k *kit) described(host, method, path string, out answer) {
	k.t.Helper()
	if k.app == nil || k.app.door == nil || len(out) == 0 {
		return
	}
	inside := k.app.door.inside.Load()
	if inside == nil {
		return
	}
	server, ok := (*inside).(*httpapi.Server)
	if !ok {
		return
	}
	kind := httpapi.OnOrganization
	if host == k.root.host {
		kind = httpapi.OnRoot
	}
	body, err := json.Marshal(out)
	if err != nil {
		k.t.Fatalf("write answer: %v", err)
	}
	describe(k.t, server, kind).CheckSuccess(k.t, method, path, body)
}

// descriptions keeps what was read of documents, by the kind of host and the number of routes: programs with as many
// routes have the same ones, and to write and read their documents costs as much as the rest of a start. Safe for
// concurrent use.
var descriptions sync.Map

// described is the key of a description.
type described struct {
	kind   httpapi.Hosts
	routes int
}

// describe reads a document once.
func describe(t testing.TB, server *httpapi.Server, kind httpapi.Hosts) apitest.Description {
	t.Helper()
	key := described{kind, len(server.Routes())}
	if known, ok := descriptions.Load(key); ok {
		return known.(apitest.Description)
	}
	document, err := server.OpenAPI(kind)
	if err != nil {
		t.Fatal(err)
	}
	d := apitest.Describe(t, document)
	descriptions.Store(key, d)
	return d
}
