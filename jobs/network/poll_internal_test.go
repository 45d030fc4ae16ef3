package networkjobs

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// answering gives a router that answers each path below /rest with a body; "" is a refusal for lack of rights.
func answering(t *testing.T, answers map[string]string) (router, *[]string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, strings.TrimPrefix(r.URL.RequestURI(), "/rest/"))
		answer := answers[strings.TrimPrefix(r.URL.Path, "/rest/")]
		if answer == "" {
			w.WriteHeader(http.StatusInternalServerError)
			answer = `{"error":500,"message":"Internal Server Error","detail":"not enough permissions (9)"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	gateway, err := routeros.New(routeros.Config{
		Guard: breaker.New(breaker.Config{}), Policy: routeros.Anywhere, Clock: clock.System(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Close)
	at := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	return router{Device: gateway.Device(routeros.Target{ID: "r", Address: at.Addr(), Port: at.Port(),
		Speaks: routeros.REST})}, &asked
}

func TestPoll_ARouterThatHidesItsSessionsIsReachable(t *testing.T) {
	t.Parallel()
	r, _ := answering(t, map[string]string{"system/resource": `{"board-name":"hAP","version":"7.16 (stable)"}`})
	var p networkviews.Poll
	if err := r.ask(t.Context(), clock.System(), &p); err != nil {
		t.Fatalf("a router that answers is not reachable: %v", err)
	}
	if p.BoardName != "hAP" || !strings.Contains(p.Error, "not enough permissions (9)") {
		t.Errorf("%+v", p)
	}
}

func TestRead_AsksForDefaultRoutesOnly(t *testing.T) {
	t.Parallel()
	r, asked := answering(t, map[string]string{"ip/route": `[]`, "interface": `[]`})
	if _, err := r.read(t.Context(), []string{"ip/route", "interface"}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(*asked)
	if want := []string{"interface", "ip/route?dst-address=0.0.0.0/0"}; !slices.Equal(*asked, want) {
		t.Errorf("asked for %v", *asked)
	}
}

// A batch of silent routers takes as long as the patience of its polls. The other batches must not wait for it.
func TestFleetPoll_SilentRoutersDoNotHoldTheOthers(t *testing.T) {
	t.Parallel()
	fleet := make([]int, 95)
	for i := range fleet {
		fleet[i] = i
	}
	release := make(chan struct{})
	var others sync.WaitGroup
	others.Add(len(fleet) - pollBatch)
	go func() {
		others.Wait()
		close(release)
	}()
	err := inBatches(t.Context(), fleet, func(_ context.Context, batch []int) error {
		if batch[0] == 0 { // the silent ones
			<-release
			return errors.New("the first batch failed")
		}
		if len(batch) > pollBatch {
			t.Errorf("a batch of %d", len(batch))
		}
		for range batch {
			others.Done()
		}
		return nil
	})
	if err == nil {
		t.Error("the failure of a batch was lost")
	}
}

// While the clock is moved no poll begins, and a move waits for the polls that have begun: so none is measured over it.
func TestPoll_WaitsWhileTheClockIsMoved(t *testing.T) {
	t.Parallel()
	var gate clock.Gate
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	w := New(Config{Clock: now, Gate: &gate, Logger: slog.New(slog.DiscardHandler)})
	open, err := gate.Shut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	polled := make(chan Polled)
	go func() { polled <- w.pollSafely(t.Context(), w.cfg.Gate, networkviews.DeviceRow{}) }()
	now.Advance(time.Hour)
	open()
	if p := <-polled; !p.At.Equal(now.Now()) || p.Error == "" {
		t.Errorf("polled as %+v", p)
	}
	leave, err := gate.Enter(t.Context()) // nobody was left inside
	if err != nil {
		t.Fatal(err)
	}
	leave()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if open, err = gate.Shut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := w.pollSafely(ended, w.cfg.Gate, networkviews.DeviceRow{}); !p.At.IsZero() {
		t.Errorf("at the end of the program %+v", p)
	}
	open()
}
