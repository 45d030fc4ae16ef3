package embedded

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestConnection_AsksTheTransportToConfirm what it keeps until it writes: after so many of these frames, and after each
// that ends a call, however the bytes of the client are cut, it gets a question, whose answer the client does not hear.
func TestConnection_AsksTheTransportToConfirm(t *testing.T) {
	t.Parallel()
	question, answer := http2Frame(frameSettings, 0, 0, nil), http2Frame(frameSettings, flagAck, 0, nil)
	rapid.Check(t, func(t *rapid.T) {
		conn := newTestConn()
		c := newConnection(conn, newIntake(1<<20))
		given := append(make([]byte, prefaceBytes), http2Frame(frameHeaders, 0, 1, []byte("headers"))...)
		newest := uint32(5)
		want := bytes.Clone(given)
		signals, questions := 0, 0
		for range rapid.IntRange(0, 300).Draw(t, "frames") {
			frame := widening(rapid.SampledFrom([]uint32{0, 1, 3}).Draw(t, "stream"), 1)
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				frame = http2Frame(frameReset, 0, 3, make([]byte, 4))
			case 1:
				frame = append(http2Frame(frameHeaders, 0, newest, nil),
					http2Frame(frameReset, 0, newest, make([]byte, 4))...)
				newest += 2
				signals = signalsAsked - 1
			case 2:
				frame = http2Frame(frameData, 0, 1, make([]byte, 20))
				signals--
			}
			given, want = append(given, frame...), append(want, frame...)
			if signals++; signals == signalsAsked {
				want = append(want, question...)
				signals = 0
				questions++
			}
		}
		conn.in.Write(given)
		got, err := io.ReadAll(bufio.NewReaderSize(c, rapid.IntRange(16, 3000).Draw(t, "reads")))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes with %d questions are read as %d", len(given), questions, len(got))
		}
		data := http2Frame(frameData, 0, 1, []byte("data"))
		heard := bytes.Repeat(slices.Concat(answer, data), 2) // the client has asked as well
		written := append(bytes.Repeat(slices.Concat(answer, data), questions), heard...)
		heard = append(bytes.Repeat(data, questions), heard...)
		for rest := written; len(rest) > 0; {
			n := rapid.IntRange(1, min(50, len(rest))).Draw(t, "write")
			if _, err := c.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if sent := conn.sent(); !bytes.Equal(sent, heard) {
			t.Fatalf("%d bytes are sent as %d", len(written), len(sent))
		}
	})
}
