package radius_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/radius"
)

func TestServer_TakesAPortThatNobodyElseHas(t *testing.T) {
	t.Parallel()
	first := start(t, &users{}, newLedger(), radius.Limits{})
	taken := first.server.AccountingAddr().String()
	second, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: taken, Directory: first.users, Accounting: first.ledger,
		Clock: first.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(t.Context()); err == nil {
		t.Error("two servers share a port, so that each gets some of the packets")
	}
	second.Stop()
	if err := first.server.Start(t.Context()); !errors.Is(err, loop.ErrStarted) {
		t.Errorf("a second start gave %v", err)
	}
	first.server.Stop()
	first.server.Stop()
	if err := first.server.Start(t.Context()); !errors.Is(err, loop.ErrStopped) {
		t.Errorf("a start after the stop gave %v", err)
	}
}

func TestServer_MetricsAreRegisteredOnce(t *testing.T) {
	t.Parallel()
	cfg := radius.Config{Metrics: prometheus.NewRegistry()}
	server, err := radius.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := radius.New(cfg); err == nil {
		t.Error("two servers count in one place")
	}
	if server.AccessAddr().IsValid() {
		t.Error("an address before the start")
	}
}

func TestServer_ARecordThatIsDurableAfterTheStopGetsNoAnswer(t *testing.T) {
	t.Parallel()
	nas, sink := router(localhost), newLedger()
	sink.manual = true
	k := start(t, &users{}, sink, radius.Limits{}, nas)
	dial(t, localhost, k.server.AccountingAddr()).send(wire(t, report(secret, 1)))
	record := <-sink.records
	k.server.Stop()
	record.Acknowledge()
	if got := k.final("accounting"); got["send_failed"] != 1 || got["acknowledged"] != 0 {
		t.Errorf("counted %v", got)
	}
}
