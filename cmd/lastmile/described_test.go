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
	describe(k.t, server.OpenAPI(kind)).CheckSuccess(k.t, method, path, body)
}

// descriptions keeps what was read of documents, by their text: many tests run the same program. Safe for concurrent
// use.
var descriptions sync.Map

// describe reads a document once.
func describe(t testing.TB, document []byte) apitest.Description {
	t.Helper()
	if known, ok := descriptions.Load(string(document)); ok {
		return known.(apitest.Description)
	}
	d := apitest.Describe(t, document)
	descriptions.Store(string(document), d)
	return d
}
