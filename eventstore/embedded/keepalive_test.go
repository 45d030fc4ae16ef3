package embedded_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// TestNode_ToleratesPingsOfIdleClients: clients ping also while no call is running. A server with gRPC's default policy
// closes such a connection at the third ping.
func TestNode_ToleratesPingsOfIdleClients(t *testing.T) {
	t.Parallel()
	conn, err := net.Dial("tcp", start(t, testConfig(t)).Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(waittest.Limit)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := errors.Join(framer.WriteSettings(), framer.WriteSettingsAck()); err != nil {
		t.Fatal(err)
	}
	pace := time.NewTicker(40 * time.Millisecond)
	defer pace.Stop()
	for i := byte(0); i < 6; i++ {
		<-pace.C
		if err := framer.WritePing(false, [8]byte{i}); err != nil {
			t.Fatal(err)
		}
		for answered := false; !answered; {
			f, err := framer.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			switch f := f.(type) {
			case *http2.GoAwayFrame:
				t.Fatalf("ping %d: the server goes away: %s", i, f.DebugData())
			case *http2.PingFrame:
				answered = f.IsAck() && f.Data[0] == i
			}
		}
	}
}
