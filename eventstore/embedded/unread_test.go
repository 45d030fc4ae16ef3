package embedded_test

import (
	"bytes"
	"runtime"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// callHeaders begin a call. They leave nothing for later ones to refer to.
func callHeaders(host, method string) []byte { return headersOf(host, method, "application/grpc") }

// headersOf begin a call of some content type.
func headersOf(host, method, contentType string) []byte {
	var headers bytes.Buffer
	encoder := hpack.NewEncoder(&headers)
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", host},
		{"content-type", contentType}, {"te", "trailers"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1], Sensitive: true}) // to memory
	}
	return headers.Bytes()
}

// rawConnection is a connection to a node by frames. What the node sends is thrown away.
type rawConnection struct {
	rawClient
	ponged chan struct{} // closed when the node has taken everything up to a ping
}

// connectRaw makes a connection by frames.
func connectRaw(t *testing.T, n *embedded.Node) rawConnection {
	t.Helper()
	c := rawConnection{dialRaw(t, n.URL()), make(chan struct{})}
	go func() {
		for {
			f, err := c.ReadFrame()
			if err != nil {
				return
			}
			if ping, ok := f.(*http2.PingFrame); ok && ping.IsAck() {
				close(c.ponged)
				return
			}
		}
	}()
	return c
}

// TestIntake_WhatACallLeavesUnreadIsGivenBack: the transport forgets bytes of a call that has ended, whether the client
// has cancelled a call of a method that there is not, or the node refuses a call before it has read its messages.
func TestIntake_WhatACallLeavesUnreadIsGivenBack(t *testing.T) {
	t.Parallel()
	const calls = 1000
	body := append([]byte{0, 0, 1, 0, 0}, make([]byte, 8000)...) // begins a message of 64 KiB
	for name, method := range map[string]string{
		"unknown": "/event_store.client.streams.Streams/Unknown",
		"refused": "/event_store.client.streams.Streams/BatchAppend",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			cfg.Username, cfg.Password = "admin", "secret"
			n := start(t, cfg)
			c := connectRaw(t, n)
			headers := callHeaders(c.host, method)
			var err error
			for call := uint32(1); call < 2*calls && err == nil; call += 2 {
				err = c.WriteHeaders(http2.HeadersFrameParam{StreamID: call, BlockFragment: headers, EndHeaders: true})
				if err == nil {
					err = c.WriteData(call, false, body)
				}
				if err == nil {
					err = c.WriteRSTStream(call, http2.ErrCodeCancel)
				}
			}
			if err == nil {
				err = c.WritePing(false, [8]byte{})
			}
			if err != nil {
				t.Fatal(err)
			}
			<-c.ponged
			for range 1000 {
				if embedded.NoMemory(n) {
					return
				}
				runtime.GC()
			}
			t.Errorf("%d bytes that nobody can read are counted for ever", embedded.Arrived(n))
		})
	}
}
