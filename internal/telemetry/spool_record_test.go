package telemetry

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// JSONRecord is a record of the form that older programs wrote.
func JSONRecord(t testing.TB, r Report) []byte {
	t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // short
	return append(binary.BigEndian.AppendUint32(out, crc32.Checksum(body, castagnoli)), body...)
}

func TestRecord_HasAllOfAReport(t *testing.T) {
	t.Parallel()
	for _, r := range []Report{{}, {
		Kind: Stop, Org: id.New[id.Organization](), Device: id.New[id.Device](), Session: "81a00012",
		User: "am\xffina\x00", Source: netip.MustParseAddr("192.0.2.1"), Calling: "c", MAC: "AA:BB:CC:00:11:22",
		Called: "d", Port: "ether2", Service: "pppoe", NASPort: 1 << 31, IP: netip.MustParseAddr("2001:db8::1"),
		Link: netip.MustParsePrefix("2001:db8:1::/64"), Network: netip.MustParsePrefix("2001:db8:2::/56"),
		Class: []byte{0, 1, 255}, Down: 1 << 63, Up: 3, Online: time.Hour, Cause: 5,
		At: time.Date(300000, 1, 1, 0, 0, 0, 7, time.UTC),
	}} {
		text, err := appendRecord([]byte("before"), r)
		if err != nil {
			t.Fatal(err)
		}
		got, n, err := readRecord(bytes.NewReader(text[6:]))
		if err != nil || int(n) != len(text)-6 {
			t.Errorf("%d of %d bytes, %v", n, len(text)-6, err)
		}
		same := []cmp.Option{
			cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateComparable(r.Org, r.Device),
		}
		if diff := cmp.Diff(r, got, same...); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := appendRecord(nil, Report{User: string(make([]byte, maxRecord))}); err == nil {
		t.Error("a record that cannot be read is written")
	}
}

// FuzzRecord reads what is no record.
func FuzzRecord(f *testing.F) {
	whole, err := appendRecord(nil, Report{Session: "81a00012", User: "amina"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[recordHead:])
	f.Add([]byte(`{"kind":"start"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		out := binary.BigEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // short
		out = append(binary.BigEndian.AppendUint32(out, crc32.Checksum(body, castagnoli)), body...)
		if _, _, err := readRecord(bytes.NewReader(out)); err != nil && !errors.Is(err, errTorn) &&
			!errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}
