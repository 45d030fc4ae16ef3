package embedded_test

import (
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// BenchmarkTakeOver measures the time from the moment at which a node vanishes until the one that stands by has stored
// an append: after a kill, of which PostgreSQL is told by the machine, and when the network of the machine is gone, of
// which it is not, with the silence of the program. The limits are 1 second, and 5 more than that silence.
func BenchmarkTakeOver(b *testing.B) {
	b.Run("killed", func(b *testing.B) {
		takeOver(b, time.Second, func(cfg embedded.Config) (url string, vanish func()) {
			node := startChild(b, pgtest.URL(b), cfg.Schema, storetest.FreeAddr(b))
			return node.url, func() { node.kill(b) }
		})
	})
	b.Run("silent", func(b *testing.B) {
		takeOver(b, embedded.HolderSilence+5*time.Second, func(cfg embedded.Config) (url string, vanish func()) {
			network := newSwallower(b)
			cfg.Pool = network.pool(b)
			return start(b, cfg).URL(), network.swallow
		})
	})
}

// takeOver measures with a node that begin starts.
func takeOver(b *testing.B, limit time.Duration, begin func(embedded.Config) (url string, vanish func())) {
	b.Helper()
	var all []time.Duration
	for range benchtest.Rounds(b) {
		cfg := testConfig(b)
		url, vanish := begin(cfg)
		mustAppend(b, contract.Connect(b, url), "s", esdb.NoStream{}, oneEvent())
		next := standBy(b, cfg)
		next.behind(b, url)
		began := time.Now()
		vanish()
		mustAppend(b, contract.Connect(b, next.takesOver(b).URL()), "s", esdb.Revision(0), oneEvent())
		all = append(all, time.Since(began))
	}
	benchtest.ReportTime(b, "takeover", benchtest.Quantile(all, 50), limit, 1)
}
