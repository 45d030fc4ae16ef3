package telemetry

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// JSONRecord is a record of the file and of the form that the oldest programs wrote.
func JSONRecord(t testing.TB, r Report) []byte {
	t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return oldRecord(body)
}

// OldRecord is a record of the file that older programs wrote.
func OldRecord(t testing.TB, r Report) []byte {
	t.Helper()
	body, err := encodeReport(r)
	if err != nil {
		t.Fatal(err)
	}
	return oldRecord(body)
}

// oldRecord is a record of the file that older programs wrote.
func oldRecord(body []byte) []byte {
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
		Class: []byte{0, 1, 255}, Down: 1 << 63, Up: 3, Online: time.Hour, Cause: 5, Late: time.Hour,
		At: time.Date(300000, 1, 1, 0, 0, 0, 7, time.UTC),
	}} {
		text, err := encodeReport(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeReport(text)
		if err != nil {
			t.Error(err)
		}
		same := []cmp.Option{
			cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateComparable(r.Org, r.Device),
		}
		if diff := cmp.Diff(r, got, same...); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := encodeReport(Report{User: string(make([]byte, maxReport))}); err == nil {
		t.Error("a record that cannot be read is written")
	}
}

// FuzzRecord reads what is no record. The file of older programs has it as it is.
func FuzzRecord(f *testing.F) {
	whole, err := encodeReport(Report{Session: "81a00012", User: "amina"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"kind":"start"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := decodeReport(body); err != nil && !errors.Is(err, errForm) {
			t.Error(err)
		}
		file := oldRecord(body)
		if got, err := readOldRecord(bytes.NewReader(file)); err != nil ||
			len(body) > 0 && len(body) <= maxReport && !bytes.Equal(got, body) {
			t.Errorf("%q, %v", got, err)
		}
	})
}
