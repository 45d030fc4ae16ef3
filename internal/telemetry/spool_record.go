package telemetry

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// A record of the spool is the byte recordForm and the fields of a report, each in the shortest form; a field that most
// reports do not have comes last, where there is one. Older programs
// wrote a report in JSON, which begins with a brace and is still read.
const (
	maxReport  = 1 << 16
	recordForm = 1
)

// errForm marks a record that is in no known form.
var errForm = errors.New("unknown form")

// encodeReport makes the record of a report. It fails for a report that is too long.
func encodeReport(r Report) ([]byte, error) {
	out := make([]byte, 0, 256)
	out = append(out, recordForm)
	out = append(out, r.Org[:]...)
	out = append(out, r.Device[:]...)
	for _, text := range [...]string{
		string(r.Kind), r.Session, r.User, r.Calling, r.MAC, r.Called, r.Port, r.Service, string(r.Class),
	} {
		out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
	}
	for _, part := range [...]interface{ MarshalBinary() ([]byte, error) }{r.Source, r.IP, r.Link, r.Network} {
		octets, err := part.MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("encode report: %w", err)
		}
		out = append(binary.AppendUvarint(out, uint64(len(octets))), octets...)
	}
	for _, n := range [...]uint64{r.Down, r.Up, uint64(r.NASPort), uint64(r.Cause)} {
		out = binary.AppendUvarint(out, n)
	}
	for _, n := range [...]int64{int64(r.Online), r.At.Unix(), int64(r.At.Nanosecond())} {
		out = binary.AppendVarint(out, n)
	}
	if r.Late != 0 {
		out = binary.AppendVarint(out, int64(r.Late))
	}
	if len(out) > maxReport {
		return nil, fmt.Errorf("encode report of %d bytes: too long", len(out))
	}
	return out, nil
}

// decodeReport reads the report of a record in either form; errForm when it is in none.
func decodeReport(body []byte) (Report, error) {
	var r Report
	if len(body) == 0 || body[0] != recordForm {
		if json.Unmarshal(body, &r) != nil {
			return Report{}, errForm
		}
		return r, nil
	}
	f := fields{rest: body[1:]}
	copy(r.Org[:], f.take(len(r.Org)))
	copy(r.Device[:], f.take(len(r.Device)))
	r.Kind = Kind(f.text())
	for _, text := range [...]*string{&r.Session, &r.User, &r.Calling, &r.MAC, &r.Called, &r.Port, &r.Service} {
		*text = string(f.text())
	}
	if class := f.text(); len(class) > 0 {
		r.Class = class
	}
	r.Source, r.IP = f.address(), f.address()
	r.Link, r.Network = f.prefix(), f.prefix()
	r.Down, r.Up = f.unsigned(), f.unsigned()
	r.NASPort, r.Cause = uint32(f.unsigned()), uint32(f.unsigned()) //nolint:gosec // as they were written
	r.Online = time.Duration(f.signed())
	r.At = time.Unix(f.signed(), f.signed()).UTC()
	if len(f.rest) > 0 {
		r.Late = time.Duration(f.signed())
	}
	if f.bad || len(f.rest) > 0 {
		return Report{}, errForm
	}
	return r, nil
}

// fields reads the fields of a record one after the other. After one that is not valid all are zero.
type fields struct {
	rest []byte
	bad  bool
}

// take gives so many bytes.
func (f *fields) take(n int) []byte {
	if f.bad = f.bad || n < 0 || n > len(f.rest); f.bad {
		return nil
	}
	out := f.rest[:n:n]
	f.rest = f.rest[n:]
	return out
}

// text gives bytes whose number is before them.
func (f *fields) text() []byte { return f.take(int(min(f.unsigned(), maxReport))) }

// unsigned gives a number.
func (f *fields) unsigned() uint64 {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 {
		f.bad = true
		return 0
	}
	f.take(n)
	return v
}

// signed gives a number.
func (f *fields) signed() int64 {
	v, n := binary.Varint(f.rest)
	if n <= 0 {
		f.bad = true
		return 0
	}
	f.take(n)
	return v
}

// address gives an address, invalid when there is none.
func (f *fields) address() (a netip.Addr) {
	f.bad = a.UnmarshalBinary(f.text()) != nil || f.bad
	return a
}

// prefix gives a prefix, invalid when there is none.
func (f *fields) prefix() (p netip.Prefix) {
	f.bad = p.UnmarshalBinary(f.text()) != nil || f.bad
	return p
}
