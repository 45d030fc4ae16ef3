package embedded_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// TestKill_AcknowledgedAppendsSurvive kills the process of the node several times during concurrent appends.
func TestKill_AcknowledgedAppendsSurvive(t *testing.T) {
	t.Parallel()
	schema := pgtest.New(t).Namespace.Schema("eventstore")
	database, addr := pgtest.URL(t), storetest.FreeAddr(t)
	node := startChild(t, database, schema, addr)
	s := newStorm(t, node.url, 16)
	for range 4 {
		s.await(150)
		node.kill(t)
		node = startChild(t, database, schema, addr)
	}
	s.await(150)
	s.end()
	_ = node.input.Close()
	if err := node.command.Wait(); err != nil {
		t.Errorf("the last node did not stop cleanly: %v", err)
	}
}
