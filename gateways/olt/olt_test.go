package olt_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/olt"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/simulators/terminals"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// box is the ONU on the fibre of port 0/1/3 of Acme's terminal.
var box = olt.Place{Organization: "acme", OLT: "hill", Serial: "HWTC1A2B3C4D"}

// kit has a client in front of a running simulator.
type kit struct {
	*olt.Client
	t   *testing.T
	sim *terminals.Simulator
	log *bytes.Buffer
}

// newClient makes a client with a breaker of its own, which stops with the test.
func newClient(t *testing.T, address string, log io.Writer, timeout time.Duration) *olt.Client {
	t.Helper()
	manual := clock.NewManual(start)
	c := olt.New(olt.Config{
		Guard: breaker.New(breaker.Config{Clock: manual}), Address: address, Token: "platform-token", Clock: manual,
		Timeout: timeout, Logger: slog.New(slog.NewJSONHandler(log, nil)),
	})
	t.Cleanup(c.Close)
	return c
}

// newKit starts a simulator with one terminal of Acme.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{t: t, log: &bytes.Buffer{}}
	k.sim = terminals.New(terminals.Config{Clock: clock.NewManual(start), Token: "platform-token"})
	if err := k.sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.sim.Stop(context.Background()) })
	k.sim.Put(terminals.Terminal{
		Organization: "acme", Name: "hill", Ports: []string{"0/1/3", "0/1/4"}, VLANs: []int{100, 200},
		Seen: map[string][]string{"0/1/3": {box.Serial}},
	})
	k.Client = newClient(t, k.sim.URL(), k.log, 5*time.Second)
	return k
}

// faults sets those of the simulator.
func (k *kit) faults(f terminals.Faults) {
	k.t.Helper()
	if err := k.sim.SetFaults(f); err != nil {
		k.t.Fatal(err)
	}
}

// fails demands the code of a failure.
func (k *kit) fails(what string, err error, code string) {
	k.t.Helper()
	if failure.CodeOf(err) != code {
		k.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestClient_AnONUIsRegisteredServedReadAndRemovedHoweverOftenItIsAsked(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for range 3 {
		got, err := k.Register(t.Context(), box, "0/1/3")
		if err != nil || got.Port != "0/1/3" || got.Number != 1 || !got.Online || got.Levels == nil {
			t.Fatalf("registered %+v, %v", got, err)
		}
	}
	for range 2 {
		if got, err := k.SetVLAN(t.Context(), box, 200); err != nil || got.VLAN != 200 {
			t.Fatalf("with a VLAN %+v, %v", got, err)
		}
	}
	got, err := k.Read(t.Context(), box)
	if err != nil || got.VLAN != 200 || got.Levels.Received > -8 || got.Levels.Received < -27 ||
		got.Levels.Distance == 0 {
		t.Errorf("read %+v, %v", got, err)
	}
	k.sim.Put(terminals.Terminal{Organization: "acme", Name: "hill", Ports: []string{"0/1/3"}, VLANs: []int{200}})
	if got, err = k.Read(t.Context(), box); err != nil || got.Online || got.Levels != nil {
		t.Errorf("without its fibre: %+v, %v", got, err)
	}
	for range 2 {
		if err := k.Remove(t.Context(), box); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if list := k.sim.ONUs(); len(list) != 0 {
		t.Errorf("left %+v", list)
	}
}

func TestClient_RefusalsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	foreign, nowhere, unseen := box, box, box
	foreign.Organization, nowhere.OLT, unseen.Serial = "other", "valley", "ZTEG00000001"
	_, err := k.Register(t.Context(), foreign, "0/1/3")
	k.fails("a foreign terminal", err, "olt_not_found")
	_, err = k.Register(t.Context(), nowhere, "0/1/3")
	k.fails("no terminal", err, "olt_not_found")
	_, err = k.Register(t.Context(), box, "0/9/9")
	k.fails("no port", err, "olt_port_not_found")
	_, err = k.Register(t.Context(), unseen, "0/1/3")
	k.fails("not on the fibre", err, "onu_not_seen")
	_, err = k.SetVLAN(t.Context(), box, 200)
	k.fails("VLAN before registration", err, "onu_not_registered")
	_, err = k.Read(t.Context(), box)
	k.fails("read before registration", err, "onu_not_registered")
	if _, err = k.Register(t.Context(), box, "0/1/3"); err != nil {
		t.Fatal(err)
	}
	_, err = k.Register(t.Context(), box, "0/1/4")
	k.fails("another port", err, "onu_elsewhere")
	_, err = k.SetVLAN(t.Context(), box, 300)
	k.fails("foreign VLAN", err, "olt_vlan_not_allowed")
	k.faults(terminals.Faults{Refuse: map[string]string{terminals.StepVLAN: "licence_missing"}})
	_, err = k.SetVLAN(t.Context(), box, 200)
	k.fails("a refusal of its own", err, "olt_refused")
	k.fails("none of the terminals", k.Remove(t.Context(), nowhere), "olt_not_found")
}

func TestClient_WithoutAnAnswerNobodyKnowsAndARepeatFinds(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]terminals.Faults{"lost": {LoseAnswers: 1}, "nonsense": {Garble: 1}} {
		k := newKit(t)
		k.faults(f)
		_, err := k.Register(t.Context(), box, "0/1/3")
		k.fails(name, err, "olt_unavailable")
		if got, err := k.Register(t.Context(), box, "0/1/3"); err != nil || got.Number != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	k := newKit(t)
	k.faults(terminals.Faults{Down: true})
	_, err := k.Register(t.Context(), box, "0/1/3")
	k.fails("down", err, "olt_unavailable")
	k.faults(terminals.Faults{LatencyMs: 2000})
	slow := newClient(t, k.sim.URL(), io.Discard, 50*time.Millisecond)
	_, err = slow.Register(t.Context(), box, "0/1/3")
	k.fails("slow", err, "olt_unavailable")
	if text := k.log.String(); strings.Contains(text, "platform-token") || !strings.Contains(text, "olt_unavailable") {
		t.Errorf("log: %s", text)
	}
	if text := fmt.Sprintf("%v %+v %#v", k.Client, k.Client, k.Client); strings.Contains(text, "platform-token") {
		t.Errorf("the token is written: %s", text)
	}
}

func TestClient_AnAnswerThatIsNotCertainIsNone(t *testing.T) {
	t.Parallel()
	stolen := 0
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen++ }))
	t.Cleanup(thief.Close)
	const onu = `{"serial":%q,"port":%q,"state":%q,"vlan":%d}`
	for name, c := range map[string]struct {
		status         int
		location, body string
	}{
		"redirect":           {307, thief.URL, ""},
		"too large":          {200, "", strings.Repeat("a", 1<<20)},
		"no JSON":            {200, "", "<html>"},
		"another ONU":        {200, "", fmt.Sprintf(onu, "ZTEG00000001", "0/1/3", "online", 100)},
		"no state":           {200, "", fmt.Sprintf(onu, box.Serial, "0/1/3", "", 100)},
		"no port":            {200, "", fmt.Sprintf(onu, box.Serial, "<b>", "online", 100)},
		"no VLAN":            {200, "", fmt.Sprintf(onu, box.Serial, "0/1/3", "online", 5000)},
		"an error":           {500, "", fmt.Sprintf(onu, box.Serial, "0/1/3", "online", 100)},
		"gone without a say": {204, "", ""},
		"404 of a proxy":     {404, "", "Not Found"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.location != "" {
				w.Header().Set("Location", c.location)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		t.Cleanup(s.Close)
		got, err := newClient(t, s.URL, io.Discard, 5*time.Second).Register(t.Context(), box, "0/1/3")
		if failure.CodeOf(err) != "olt_unavailable" || got != (olt.Reading{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if stolen > 0 {
		t.Error("a redirect was followed")
	}
}

func TestClient_WhatHasNoFormIsNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, at := range []olt.Place{
		{"acme/../other", "hill", box.Serial}, {"acme", "..", box.Serial}, {"acme", "hill", "hwtc1a2b3c4d"},
		{"acme", "hill?x=1", box.Serial}, {"", "hill", box.Serial}, {"acme", "hill", ""},
	} {
		if _, err := k.Read(t.Context(), at); err == nil {
			t.Errorf("%+v was asked for", at)
		}
	}
	if strings.Contains(k.log.String(), "OLT call") {
		t.Error("something was sent")
	}
	for _, port := range []string{"", "a", "0/1/2/3", "0/", "/1", "9999"} {
		if olt.CheckPort(port) == nil {
			t.Errorf("port %q", port)
		}
	}
	for vlan, ok := range map[int]bool{0: false, 1: true, 4094: true, 4095: false, -1: false} {
		if (olt.CheckVLAN(vlan) == nil) != ok {
			t.Errorf("VLAN %d", vlan)
		}
	}
}

// TestBreaker_ADeadTerminalClosesNoOther: neither another one of its organization nor those of others.
func TestBreaker_ADeadTerminalClosesNoOther(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	dead, other := box, box
	dead.OLT, other.Organization = "valley", "other"
	k.sim.Put(terminals.Terminal{Organization: "other", Name: "hill"})
	k.faults(terminals.Faults{Hung: []string{"acme/valley"}})
	for range 6 {
		_, err := k.Register(t.Context(), dead, "0/1/3")
		k.fails("hung", err, "olt_unavailable")
	}
	k.faults(terminals.Faults{})
	_, err := k.Register(t.Context(), dead, "0/1/3")
	k.fails("a terminal with an open breaker", err, "olt_unavailable")
	if _, err := k.Register(t.Context(), box, "0/1/3"); err != nil {
		t.Errorf("another terminal: %v", err)
	}
	_, err = k.Read(t.Context(), other)
	k.fails("another organization", err, "onu_not_registered")
}

// TestBreaker_ATerminalOutOfReachIsAnAnswer, which is repeated, and opens no breaker.
func TestBreaker_ATerminalOutOfReachIsAnAnswer(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.faults(terminals.Faults{Unreachable: []string{"acme/hill"}})
	for range 6 {
		_, err := k.Register(t.Context(), box, "0/1/3")
		k.fails("out of reach", err, "olt_unreachable")
		if failure.KindOf(err) != failure.Unavailable {
			t.Errorf("it is not tried again: %v", err)
		}
	}
	k.faults(terminals.Faults{})
	if _, err := k.Register(t.Context(), box, "0/1/3"); err != nil {
		t.Error(err)
	}
}

// TestBreaker_OneOfTheSystemAndOfEachTerminalThatThereIs: names that no terminal has are forgotten, and a system that
// nobody reaches is asked as one.
func TestBreaker_OneOfTheSystemAndOfEachTerminalThatThereIs(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	set := breaker.New(breaker.Config{Clock: clock.NewManual(start)})
	client := olt.New(olt.Config{Guard: set, Address: k.sim.URL(), Token: "platform-token"})
	t.Cleanup(client.Close)
	for n := range 7 {
		at := box
		at.OLT = fmt.Sprintf("none-%d", n)
		_, err := client.Read(t.Context(), at)
		k.fails("no terminal", err, "olt_not_found")
	}
	if _, err := client.Register(t.Context(), box, "0/1/3"); err != nil || len(set.States()) != 2 {
		t.Errorf("%+v (%v)", set.States(), err)
	}
	if err := k.sim.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.Close()
	for range 6 {
		_, err := client.Read(t.Context(), box)
		k.fails("away", err, "olt_unavailable")
	}
	for _, s := range set.States() {
		if away := s.Target == k.sim.URL(); (s.State == breaker.Open) != away {
			t.Errorf("%+v", s)
		}
	}
}
