package genieacs

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Device has all that the server tells of one.
type Device struct {
	ID                                      DeviceID
	OUI, ProductClass, Serial, Manufacturer string
	Root                                    Root // None when it has not told its tree
	Tags                                    []string
	// The instants of its history; zero = never. LastInform is written at the end of a session.
	Registered, LastInform, LastBoot, LastBootstrap time.Time
	// Values has the parameters that were asked for and are known, by their paths.
	Values map[string]Value
}

// Value is a parameter as the server has it in memory: it may be old.
type Value struct {
	Value    any       // string, bool or json.Number; nil when the parameter exists and was never read
	Type     string    // such as xsd:string; "" when it was never read
	At       time.Time // when it was read or set last; zero when it was never read
	Writable bool
}

// Text gives the value as people write it; "" when it was never read.
func (v Value) Text() string {
	switch v := v.Value.(type) {
	case string:
		return v
	case bool:
		if v {
			return "true"
		}
		return "false"
	case json.Number:
		return v.String()
	}
	return ""
}

// secretNames end the paths whose values are never read, in small letters; makers put their own marks before them.
var secretNames = []string{
	"passphrase", "presharedkey", "password", "passwd", "wepkey", "secret", "privatekey", "psk", "pin",
}

// IsSecret reports whether a parameter holds a password or a key, by its name.
func IsSecret(path string) bool {
	name := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	for _, s := range secretNames {
		if strings.HasSuffix(name, s) && (s != "pin" || name == s) {
			return true
		}
	}
	return false
}

// heads are the fields of a device beside its parameters. The two objects tell the tree's root.
var heads = []string{
	"_deviceId", "_registered", "_lastInform", "_lastBoot", "_lastBootstrap", "_tags", "Device._object",
	"InternetGatewayDevice._object",
}

// Listing chooses devices. The zero value is the first page of all.
type Listing struct {
	After  DeviceID // only those behind it, in the order of ids
	Skip   int
	Limit  int       // of one page; 100 when 0, at most 1,000
	Since  time.Time // only those that informed at or after it
	Serial string    // only this serial number, also with space around it
	Tag    string
	Paths  []string // parameters to read: whole paths of leaves, none of which holds a secret
	// Values are such parameters of which only the value is read: addresses of requests must not become too long.
	Values []string
}

// selection writes the query. Values are leaves' fields, because the path of an object would bring all that is below.
func (l Listing) selection() (selection, error) {
	query := map[string]any{}
	if l.After != "" {
		if err := l.After.check(); err != nil {
			return selection{}, err
		}
		query["_id"] = map[string]any{"$gt": l.After}
	}
	if !l.Since.IsZero() {
		query["_lastInform"] = map[string]any{"$gte": wireTime(l.Since)}
	}
	if l.Tag != "" {
		if err := checkTag(l.Tag); err != nil {
			return selection{}, err
		}
		query["_tags"] = l.Tag
	}
	if l.Serial != "" {
		if checkTag(l.Serial) != nil {
			return selection{}, unfit("serial number must be 1 to 200 bytes without * and control characters")
		}
		query["_deviceId._SerialNumber"] = `/^\s{0,9}` + regexp.QuoteMeta(l.Serial) + `\s{0,9}$/`
	}
	fields, err := projection(l.Paths)
	for _, p := range l.Values {
		err = firstOf(err, checkPath(p))
		if !IsSecret(p) {
			fields = append(fields, p+"._value")
		}
	}
	if err != nil || l.Skip < 0 || l.Limit < 0 {
		return selection{}, firstOf(err, unfit("a page cannot begin or end before the first device"))
	}
	limit := min(l.Limit, maxPage)
	if limit == 0 {
		limit = 100
	}
	return selection{collection: "devices", query: query, fields: fields, skip: l.Skip, limit: limit}, nil
}

// maxPage bounds the devices of a page.
const maxPage = 1000

// firstOf gives the first error that is none of nil.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// wireTime writes an instant as the server's queries have it.
func wireTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// projection names the fields of a device's document that are asked for.
func projection(paths []string) ([]string, error) {
	fields := slices.Clone(heads)
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return nil, err
		}
		fields = append(fields, fieldsOf(p)...)
	}
	return fields, nil
}

// fieldsOf names the fields of a parameter.
func fieldsOf(path string) []string {
	fields := []string{path + "._writable"}
	if !IsSecret(path) {
		fields = append(fields, path+"._value", path+"._type", path+"._timestamp")
	}
	return fields
}

// maxFields bounds the fields of parameters in an address, in bytes as they are written there. Source:
// docs/facts/genieacs.md#reading.
const maxFields = 8 << 10

// requests splits paths into those that fit one address each; without paths there is one, too.
func requests(paths []string) [][]string {
	var out [][]string
	first, size := 0, 0
	for n, p := range paths {
		own := len(url.QueryEscape("," + strings.Join(fieldsOf(p), ",")))
		if size += own; size > maxFields && n > first {
			out, first, size = append(out, paths[first:n]), n, own
		}
	}
	return append(out, paths[first:])
}

// Devices reads one page, in the order of ids, and gives the number of all devices that the listing means, which does
// not depend on the page. The order of calls of each is that of ids; its error ends the list and is returned.
func (s *Server) Devices(ctx context.Context, l Listing, each func(Device) error) (int, error) {
	sel, err := l.selection()
	if err != nil {
		return 0, err
	}
	return list(ctx, s, "list_devices", sel, func(d document) error {
		if device := l.device(d); l.means(device) {
			return each(device)
		}
		return nil
	})
}

// EachDevice reads all pages of a listing. A document whose id is none, which anybody can make by a call without a
// serial number, and one that cannot be read, are left out and logged.
func (s *Server) EachDevice(ctx context.Context, l Listing, each func(Device) error) error {
	l.Skip = 0
	sel, err := l.selection()
	if err != nil {
		return err
	}
	w := walk{Server: s, operation: "list_devices", sel: sel}
	return w.all(ctx, string(l.After), func(d document) (bool, error) {
		device := l.device(d)
		if l.means(device) {
			return true, each(device)
		}
		return device.ID != "", nil
	})
}

// device takes a document apart; without an id when it is none of a device.
func (l Listing) device(d document) Device { return d.device(slices.Concat(l.Paths, l.Values)) }

// means reports whether a device that the server gave is one of the listing.
func (l Listing) means(d Device) bool {
	return d.ID != "" && (l.Serial == "" || strings.TrimSpace(d.Serial) == l.Serial)
}

// CountDevices gives the number of devices that a listing means.
func (s *Server) CountDevices(ctx context.Context, l Listing) (int, error) {
	sel, err := l.selection()
	if err != nil {
		return 0, err
	}
	return s.count(ctx, "count_devices", selection{collection: "devices", query: sel.query})
}

// Device reads one device with chosen parameters, by as many requests as their names need. Fails: ErrUnknownDevice.
func (s *Server) Device(ctx context.Context, id DeviceID, paths ...string) (Device, error) {
	if err := id.check(); err != nil {
		return Device{}, err
	}
	values := map[string]Value{}
	var device Device
	for _, part := range requests(paths) {
		var err error
		if device, err = s.device(ctx, id, part); err != nil {
			return Device{}, err
		}
		maps.Copy(values, device.Values)
	}
	device.Values = values
	return device, nil
}

// device is Device for names that fit one address.
func (s *Server) device(ctx context.Context, id DeviceID, paths []string) (Device, error) {
	fields, err := projection(paths)
	if err != nil {
		return Device{}, err
	}
	var found *Device
	_, err = list(ctx, s, "read_device", selection{
		collection: "devices", query: map[string]any{"_id": id}, fields: fields, limit: 2,
	}, func(d document) error {
		if device := d.device(paths); device.ID == id {
			found = &device
		}
		return nil
	})
	switch {
	case err != nil:
		return Device{}, err
	case found == nil:
		return Device{}, ErrUnknownDevice
	}
	return *found, nil
}

// DeleteDevice makes the server forget a device, its tasks and faults; a device that it does not know is no error. One
// that informs again is new to it. Fails: ErrInSession.
func (s *Server) DeleteDevice(ctx context.Context, id DeviceID) error {
	if err := id.check(); err != nil {
		return err
	}
	return s.done(s.settled(ctx, call{
		operation: "delete_device", method: http.MethodDelete, path: "/devices/" + segment(string(id)), device: id,
	}))
}

// done makes an error of every answer but 2xx.
func (s *Server) done(r reply, err error) error {
	if err != nil || r.status/100 == 2 {
		return err
	}
	return r.refused()
}

// AddTag puts a tag on a device; one that it has already stays. Fails: ErrUnknownDevice.
func (s *Server) AddTag(ctx context.Context, id DeviceID, tag string) error {
	return s.tag(ctx, "add_tag", http.MethodPost, id, tag)
}

// RemoveTag takes a tag from a device; one that it does not have is no error. Fails: ErrUnknownDevice.
func (s *Server) RemoveTag(ctx context.Context, id DeviceID, tag string) error {
	return s.tag(ctx, "remove_tag", http.MethodDelete, id, tag)
}

// tag adds or removes one tag.
func (s *Server) tag(ctx context.Context, operation, method string, id DeviceID, tag string) error {
	if err := firstOf(id.check(), checkTag(tag)); err != nil {
		return err
	}
	r, err := s.send(ctx, call{
		operation: operation, method: method, device: id,
		path: "/devices/" + segment(string(id)) + "/tags/" + segment(tag),
	})
	if err == nil && r.status == http.StatusNotFound {
		return ErrUnknownDevice
	}
	return s.done(r, err)
}
