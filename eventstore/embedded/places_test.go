package embedded_test

import (
	"errors"
	"io"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// TestPlaces_ConnectionsThatWereLeftBehindMakePlace: the stock client leaves one behind at each answer that the node
// cannot give, until the node has no place for the next one, and waits for it for ever.
func TestPlaces_ConnectionsThatWereLeftBehindMakePlace(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	for range embedded.MostConnections {
		call, err := bare(t, n.URL()).Read(t.Context(), readOf("s", false))
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = call.Recv()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	if all := embedded.Connections(n); all != embedded.MostConnections {
		t.Fatalf("%d connections", all)
	}
	mustAppend(t, contract.Connect(t, n.URL()), "s", esdb.NoStream{}, oneEvent())
}
