package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
)

// TestSettings_WhatIsReadCanBeSentBack sends the answer of each GET of settings to the PUT of the same path: a program
// reads settings, changes one of them and sends all back.
func TestSettings_WhatIsReadCanBeSentBack(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	read := map[string]bool{}
	for _, r := range server.Routes() {
		if r.Method == http.MethodGet && r.Response != nil && r.Hosts&httpapi.OnOrganization != 0 {
			read[r.Path] = true
		}
	}
	tried := 0
	for _, r := range server.Routes() {
		if r.Method != http.MethodPut || r.Request == nil || !read[r.Path] || strings.Contains(r.Path, ":") {
			continue
		}
		if strings.HasSuffix(r.Path, "/logo") { // an organization without a logo has none to send
			continue
		}
		tried++
		k.must(k.admin, http.MethodPut, r.Path, k.must(k.admin, http.MethodGet, r.Path, nil))
	}
	if tried < 6 {
		t.Errorf("only %d settings were tried", tried)
	}
}
