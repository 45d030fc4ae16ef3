package acs_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// kit has a running simulator with a clock that stands.
type kit struct {
	*acs.Simulator
	t      *testing.T
	clock  *clock.Manual
	client *http.Client
}

// newKit starts a simulator and stops it with the test.
func newKit(t *testing.T, cfg acs.Config) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(start), client: &http.Client{Transport: &http.Transport{}}}
	cfg.Clock = k.clock
	if cfg.LockWait == 0 {
		cfg.LockWait = 20 * time.Millisecond
	}
	k.Simulator = acs.New(cfg)
	if err := k.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.client.CloseIdleConnections()
		if err := k.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return k
}

// reply is an answer with its reason phrase.
type reply struct {
	status int
	reason string
	header http.Header
	body   string
}

// do sends a request to the northbound interface; an error is a status of 0.
func (k *kit) do(method, path, body string, headers ...string) reply {
	k.t.Helper()
	return k.at(k.URL(), method, path, body, headers...)
}

// at sends a request to an address.
func (k *kit) at(base, method, path, body string, headers ...string) reply {
	k.t.Helper()
	req, err := http.NewRequestWithContext(k.t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w, err := k.client.Do(req)
	if err != nil {
		return reply{}
	}
	defer w.Body.Close()
	text, _ := io.ReadAll(w.Body)
	_, reason, _ := strings.Cut(w.Status, " ")
	return reply{w.StatusCode, reason, w.Header, string(text)}
}

// find gives the ids of a collection that a query means; nil when the server broke off.
func (k *kit) find(collection, query string) []string {
	k.t.Helper()
	r := k.do("GET", "/"+collection+"/?query="+url.QueryEscape(query)+"&projection=_id", "")
	if r.status == 0 {
		return nil
	}
	var list []struct {
		ID string `json:"_id"`
	}
	if err := json.Unmarshal([]byte(r.body), &list); err != nil {
		k.t.Fatalf("%s %s: %d %s", collection, query, r.status, r.body)
	}
	out := []string{}
	for _, one := range list {
		out = append(out, one.ID)
	}
	return out
}

// settle waits until nothing is under way.
func (k *kit) settle() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	if err := k.Idle(ctx); err != nil {
		k.t.Fatal(err)
	}
}

// add switches a device on and waits for its first sessions.
func (k *kit) add(c acs.DeviceConfig) string {
	k.t.Helper()
	id, err := k.AddDevice(c)
	if err != nil {
		k.t.Fatal(err)
	}
	k.settle()
	return id
}

// task posts a task and gives its id.
func (k *kit) task(id, body string) string {
	k.t.Helper()
	r := k.do("POST", "/devices/"+url.PathEscape(id)+"/tasks", body)
	var t struct {
		ID string `json:"_id"`
	}
	if r.status != http.StatusAccepted || json.Unmarshal([]byte(r.body), &t) != nil {
		k.t.Fatalf("task %s: %d %s", body, r.status, r.body)
	}
	return t.ID
}

// inform lets a device begin a session a while later, and waits for all that follows.
func (k *kit) inform(id string, events ...string) {
	k.t.Helper()
	k.clock.Advance(10 * time.Second)
	if err := k.Inform(id, events...); err != nil {
		k.t.Fatal(err)
	}
	k.settle()
}

// has gives a parameter of the device itself.
func (k *kit) has(id, path string) any {
	k.t.Helper()
	all, err := k.Parameters(id)
	if err != nil {
		k.t.Fatal(err)
	}
	return all[path]
}

// leaf gives a parameter as the server remembers it.
func (k *kit) leaf(id, path string) map[string]any {
	k.t.Helper()
	r := k.do("GET", "/devices/?query="+url.QueryEscape(`{"_id":"`+id+`"}`)+"&projection="+path, "")
	var list []map[string]any
	if err := json.Unmarshal([]byte(r.body), &list); err != nil || len(list) != 1 {
		k.t.Fatalf("%d %s", r.status, r.body)
	}
	at := list[0]
	for _, part := range strings.Split(path, ".") {
		at, _ = at[part].(map[string]any)
	}
	return at
}
