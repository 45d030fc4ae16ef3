package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// storage is a database that a test makes refuse requests.
type storage struct {
	mu            sync.Mutex
	reads, writes context.Context
	stop          map[bool]context.CancelFunc
}

// newStorage serves everything.
func newStorage() *storage {
	s := &storage{stop: map[bool]context.CancelFunc{}}
	s.reads, s.stop[false] = context.WithCancel(context.Background())
	s.writes, s.stop[true] = context.WithCancel(context.Background())
	return s
}

// Until implements httpapi.Storage.
func (s *storage) Until(writes bool) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if writes {
		return s.writes
	}
	return s.reads
}

// heldRoute waits until its request is ended, and tells that it has begun.
func heldRoute(method, path string, begun chan<- struct{}) httpapi.Route {
	return httpapi.Route{
		Method: method, Path: path, Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic, Summary: "Waits",
		Handle: func(ctx context.Context, _ *httpapi.Call) error {
			begun <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		},
	}
}

func TestStorage_ARequestThatWritesEndsWhenTheDatabaseRefusesWrites(t *testing.T) {
	t.Parallel()
	db, begun := newStorage(), make(chan struct{}, 1)
	k := apitest.New(t, func(c *httpapi.Config) { c.Storage = db }, []httpapi.Route{
		heldRoute(http.MethodPost, "/held", begun),
	})
	answer := make(chan apitest.Answer)
	go func() {
		answer <- k.Do(t, apitest.Request{Method: http.MethodPost, Path: "/held",
			Header: map[string]string{"Idempotency-Key": "k"}})
	}()
	<-begun
	db.stop[true]()
	got := <-answer
	if got.Status != 503 || got.Code() != "database_unavailable" || got.Header.Get("Retry-After") != "5" {
		t.Errorf("%d %s %v", got.Status, got.Body, got.Header)
	}
	if strings.Contains(k.Log.String(), `"level":"ERROR"`) {
		t.Errorf("the log has errors:\n%s", k.Log)
	}
}

func TestStorage_RefusesAtOnceOnlyWhatItCannotServe(t *testing.T) {
	t.Parallel()
	route := func(method, path string) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary: "Works", Response: map[string]string{}, Handle: apitest.Ok}
	}
	db := newStorage()
	k := apitest.New(t, func(c *httpapi.Config) { c.Storage = db }, []httpapi.Route{
		route(http.MethodGet, "/things"), route(http.MethodPost, "/things"), route(http.MethodPost, "/webhooks/mobile"),
	}, system(nil).Routes())
	try := func(when, method, path string, want int) {
		t.Helper()
		got := k.Do(t, apitest.Request{Method: method, Path: path})
		if got.Status != want {
			t.Errorf("%s: %s %s: %d %s, want %d", when, method, path, got.Status, got.Body, want)
		}
	}
	db.stop[true]()
	try("writes are refused", "GET", "/things", 200)
	try("writes are refused", "POST", "/things", 503)
	try("writes are refused", "POST", "/webhooks/mobile", 200)
	db.stop[false]()
	try("the database is away", "GET", "/things", 503)
	try("the database is away", "POST", "/webhooks/mobile", 200)
	try("the database is away", "GET", "/healthz", 200)
	try("the database is away", "GET", "/readyz", 200)
	for _, path := range []string{"/", "/openapi.json", "/docs", "/docs/errors"} {
		try("the database is away", "GET", path, 200)
	}
}

func TestLog_WhatAnOutsideSystemRefusesIsNoError(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, []httpapi.Route{
		{Method: http.MethodGet, Path: "/open", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Meets an open breaker", Handle: func(context.Context, *httpapi.Call) error {
				return failure.NewUnavailable("provider_unavailable", "The system does not answer.", 0, nil)
			}},
	})
	if got := k.Do(t, apitest.Request{Path: "/open", As: apitest.Admin}); got.Status != 503 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if log := k.Log.String(); strings.Contains(log, `"level":"ERROR"`) || !strings.Contains(log, `"level":"WARN"`) {
		t.Errorf("want a warning and no error:\n%s", log)
	}
}
