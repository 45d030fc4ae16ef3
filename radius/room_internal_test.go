package radius

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestRoom_WhatTheSystemDropsIsCountedAndTold: packets that a full buffer does not hold are in the metrics, once, and
// a buffer that is smaller than was asked for is told at the start.
func TestRoom_WhatTheSystemDropsIsCountedAndTold(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	shown := prometheus.NewRegistry()
	e := newEverybody(t)
	s, err := New(Config{
		Directory: e, Accounting: e, Clock: clock.System(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Limits: Limits{ReadRoom: 8192}, AccessAddr: "127.0.0.1:0", Sockets: 1, Metrics: shown,
	})
	if err == nil {
		err = s.open(t.Context(), accessPort) // nobody reads
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.closeSockets()
	if got := roomOf(s.sockets[0].conn); got < 8192 {
		t.Errorf("room for %d octets", got)
	}
	from, err := net.Dial("udp", s.AccessAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	for range 100 {
		if _, err := from.Write(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		s.countLost(t.Context())
		if n := droppedAt(t, shown, "access"); n < 50 || n >= 100 {
			t.Errorf("%v of 100 packets are lost", n)
		}
	}
	if n := strings.Count(log.String(), "packets were lost"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
	s.tellRoom(t.Context())
	s.limits.ReadRoom = 1 << 30
	s.tellRoom(t.Context())
	if n := strings.Count(log.String(), "sysctl -w net.core.rmem_max=1073741824"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
}

// droppedAt reads the number of lost packets of a port.
func droppedAt(t *testing.T, from *prometheus.Registry, port string) float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "lastmile_radius_dropped_total" && m.GetLabel()[0].GetValue() == port {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatal("the metric is not shown")
	return 0
}
