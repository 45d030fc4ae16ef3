package coa

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius"
)

// TestAsk_AQuickAnswerEndsThePatienceWithARouter, and an answer that comes later than usual does not.
func TestAsk_AQuickAnswerEndsThePatienceWithARouter(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pause   time.Duration // of the only try
		patient bool          // afterwards
	}{
		"in the usual time": {time.Minute, false},
		"later than usual":  {time.Nanosecond, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			secret := []byte("a secret")
			address := answering(t, secret)
			client := &Client{Tries: 1, Pause: c.pause}
			client.late.waits = map[netip.AddrPort]time.Duration{}
			client.late.learn(address, mostPatient)
			answer, err := client.Disconnect(t.Context(), Router{Address: address, Secret: secret},
				Session{UserName: "amina"})
			if err != nil || !answer.Done {
				t.Fatalf("%+v, %v", answer, err)
			}
			if got := client.late.patience(address); (got != 0) != c.patient {
				t.Errorf("patience %v", got)
			}
		})
	}
}

// answering is the address of a router that acknowledges everything.
func answering(t *testing.T, secret []byte) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, radius.MaxPacketLength)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			p, err := radius.Parse(buffer[:n], secret)
			if err != nil {
				t.Error(err)
				return
			}
			out, err := p.Response(p.Code + 1).Encode()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = conn.WriteToUDPAddrPort(out, from)
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-ended
	})
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}
