package acs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Summary is a device in the form of GET /sim/devices.
type Summary struct {
	ID       string `json:"id"`
	Serial   string `json:"serialNumber"`
	Root     string `json:"root"`
	On       bool   `json:"on"`
	Firmware string `json:"firmware"`
	// NextInform is its next periodic one; zero = none is planned.
	NextInform time.Time    `json:"nextInform"`
	Known      bool         `json:"known"` // to the server
	Faults     DeviceFaults `json:"faults"`
}

// errNoDevice answers for an id without a device.
var errNoDevice = errors.New("there is no such device")

// AddDevice makes a device. One with power informs at once, in the background.
func (s *Simulator) AddDevice(c DeviceConfig) (id string, err error) {
	c = c.withDefaults()
	if c.Serial == "" || c.Root != rootTR181 && c.Root != rootTR098 {
		return "", errors.New("a device needs a serial number, and one of the two roots")
	}
	d := &device{id: idOf(c.OUI, c.ProductClass, c.Serial), cfg: c, on: !c.Off, first: true}
	d.box = newBox(c, s.random(d.id), s.clock.Now())
	s.mu.Lock()
	if old := s.state.devices[d.id]; old != nil {
		if !old.gone {
			s.mu.Unlock()
			return "", fmt.Errorf("there is a device %s already", d.id)
		}
		d.doc = old.doc
	}
	s.state.devices[d.id] = d
	s.mu.Unlock()
	if d.on {
		return d.id, s.Inform(d.id, boot)
	}
	return d.id, nil
}

// find gives a device that was not taken away.
func (s *Simulator) find(id string) (*device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.state.devices[id]
	if d == nil || d.gone {
		return nil, errNoDevice
	}
	return d, nil
}

// Inform lets a device begin a session with events, in the background. One that has not informed yet adds its
// bootstrap.
func (s *Simulator) Inform(id string, events ...string) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	s.later(func(ctx context.Context) {
		if x := s.openPatiently(ctx, d, events); x != nil {
			x.carry()
			x.presets()
			x.queue()
			s.end(x)
		}
	})
	return nil
}

// SetPower switches a device on or off. One that comes on boots and informs.
func (s *Simulator) SetPower(id string, on bool) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	comes := on && !d.on
	d.on = on
	if !on {
		d.next = time.Time{}
	}
	s.mu.Unlock()
	if !comes {
		return nil
	}
	d.reboot(s.clock.Now())
	return s.Inform(id, boot)
}

// RemoveDevice takes a device away; the server remembers it.
func (s *Simulator) RemoveDevice(id string) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.gone = true
	if d.doc == nil {
		delete(s.state.devices, id)
	}
	return nil
}

// SetDeviceFaults replaces the faults of a device; the zero value ends them all.
func (s *Simulator) SetDeviceFaults(id string, f DeviceFaults) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.faults = f
	return nil
}

// SetNAT puts a device behind address translation, or takes it out.
func (s *Simulator) SetNAT(id string, on bool) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.cfg.NAT = on
	return nil
}

// SetParameters changes a device as a person at it would.
func (s *Simulator) SetParameters(id string, values map[string]any) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	d.boxMu.Lock()
	defer d.boxMu.Unlock()
	for path, value := range values {
		p := d.box.params[path]
		if p == nil {
			return fmt.Errorf("the device has no parameter %s", path)
		}
		plain, ok := coerce(value, p.kind)
		if !ok {
			return fmt.Errorf("the value of %s is of another type", path)
		}
		d.box.write(path, plain)
	}
	return nil
}

// PressReset is the button of factory defaults: the device begins anew.
func (s *Simulator) PressReset(id string) error {
	d, err := s.find(id)
	if err != nil {
		return err
	}
	s.reset(d)
	return s.Inform(id, bootstrap, boot)
}

// Parameters gives all that a device itself has, with its secrets, for tests.
func (s *Simulator) Parameters(id string) (map[string]any, error) {
	d, err := s.find(id)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	d.boxMu.Lock()
	defer d.boxMu.Unlock()
	out := map[string]any{}
	for path, p := range d.box.params {
		v, _ := d.box.read(path, now)
		if p.secret {
			v = p.value
		}
		out[path] = plainValue(v)
	}
	return out, nil
}

// Devices lists the devices by their ids.
func (s *Simulator) Devices() []Summary {
	s.mu.Lock()
	all := slices.SortedFunc(maps.Values(s.state.devices), func(a, b *device) int { return cmp.Compare(a.id, b.id) })
	out := []Summary{}
	kept := []*device{}
	for _, d := range all {
		if d.gone {
			continue
		}
		kept = append(kept, d)
		out = append(out, Summary{
			ID: d.id, Serial: d.cfg.Serial, Root: d.cfg.Root, On: d.on, NextInform: d.next, Known: d.doc != nil,
			Faults: d.faults,
		})
	}
	s.mu.Unlock()
	for i, d := range kept {
		d.boxMu.Lock()
		out[i].Firmware, _ = d.box.params[d.cfg.Root+".DeviceInfo.SoftwareVersion"].value.(string)
		d.boxMu.Unlock()
	}
	return out
}

// Log gives what scripts have logged, oldest first.
func (s *Simulator) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.lines)
}

// Requests gives the newest requests of the northbound interface, oldest first.
func (s *Simulator) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.requests)
}

// Identifications is the number of times that the extension was asked.
func (s *Simulator) Identifications() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.calls
}

// Resets gives how often devices were brought back to their makers' settings, by whomever.
func (s *Simulator) Resets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.resets
}

// SetIdentify says where the extension asks from now on.
func (s *Simulator) SetIdentify(to Identify) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.identify = to
}

// SetSignIn sets the expression of cwmp.auth; "" lets every device in.
func (s *Simulator) SetSignIn(expression string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.signIn = expression
}

// routeControl adds the paths that drive the simulator. Faults do not touch them.
func (s *Simulator) routeControl(mux *http.ServeMux) {
	mux.HandleFunc("GET /sim/devices", show(func() any { return s.Devices() }))
	mux.HandleFunc("POST /sim/devices", control(func(_ *http.Request, c DeviceConfig) (any, error) {
		id, err := s.AddDevice(c)
		return map[string]string{"id": id}, err
	}))
	mux.HandleFunc("GET /sim/devices/{id}", control(func(r *http.Request, _ struct{}) (any, error) {
		return s.Parameters(r.PathValue("id"))
	}))
	mux.HandleFunc("DELETE /sim/devices/{id}", control(func(r *http.Request, _ struct{}) (any, error) {
		return struct{}{}, s.RemoveDevice(r.PathValue("id"))
	}))
	mux.HandleFunc("PUT /sim/devices/{id}/power", control(func(r *http.Request, body struct {
		On bool `json:"on"`
	},
	) (any, error) {
		return body, s.SetPower(r.PathValue("id"), body.On)
	}))
	mux.HandleFunc("PUT /sim/devices/{id}/nat", control(func(r *http.Request, body struct {
		On bool `json:"on"`
	},
	) (any, error) {
		return body, s.SetNAT(r.PathValue("id"), body.On)
	}))
	mux.HandleFunc("PUT /sim/devices/{id}/faults", control(func(r *http.Request, f DeviceFaults) (any, error) {
		return f, s.SetDeviceFaults(r.PathValue("id"), f)
	}))
	mux.HandleFunc("PUT /sim/devices/{id}/parameters", control(func(r *http.Request, v map[string]any) (any, error) {
		return struct{}{}, s.SetParameters(r.PathValue("id"), v)
	}))
	mux.HandleFunc("POST /sim/devices/{id}/inform", control(func(r *http.Request, body struct {
		Events []string `json:"events"`
	},
	) (any, error) {
		if body.Events == nil {
			body.Events = []string{periodic}
		}
		return body, s.Inform(r.PathValue("id"), body.Events...)
	}))
	mux.HandleFunc("POST /sim/devices/{id}/reset", control(func(r *http.Request, _ struct{}) (any, error) {
		return struct{}{}, s.PressReset(r.PathValue("id"))
	}))
	s.routeServer(mux)
}

// routeServer adds the paths about the server itself.
func (s *Simulator) routeServer(mux *http.ServeMux) {
	mux.HandleFunc("GET /sim/faults", show(func() any { return s.Faults() }))
	mux.HandleFunc("PUT /sim/faults", control(func(_ *http.Request, f Faults) (any, error) {
		s.SetFaults(f)
		return f, nil
	}))
	mux.HandleFunc("PUT /sim/identify", control(func(_ *http.Request, to Identify) (any, error) {
		s.SetIdentify(to)
		return struct{}{}, nil
	}))
	mux.HandleFunc("PUT /sim/sign-in", control(func(_ *http.Request, body struct {
		Expression string `json:"expression"`
	},
	) (any, error) {
		s.SetSignIn(body.Expression)
		return body, nil
	}))
	mux.HandleFunc("POST /sim/tick", control(func(*http.Request, struct{}) (any, error) {
		s.Tick()
		return struct{}{}, nil
	}))
	mux.HandleFunc("GET /sim/log", show(func() any { return s.Log() }))
	mux.HandleFunc("GET /sim/requests", show(func() any { return s.Requests() }))
	mux.HandleFunc("GET /sim/idle", func(w http.ResponseWriter, r *http.Request) {
		if err := s.Idle(r.Context()); err == nil {
			answer(w, http.StatusOK, struct{}{})
		}
	})
}

// control reads a JSON body if there is one, calls act and answers. An error is answered 400, a device that is not
// there 404.
func control[T any](act func(*http.Request, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		var err error
		if r.ContentLength != 0 {
			decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
			decoder.DisallowUnknownFields()
			err = decoder.Decode(&body)
		}
		var result any
		if err == nil {
			result, err = act(r, body)
		}
		switch {
		case errors.Is(err, errNoDevice):
			answer(w, http.StatusNotFound, map[string]string{"error": err.Error()})
		case err != nil:
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		default:
			answer(w, http.StatusOK, result)
		}
	}
}

// show answers with the present result of view.
func show(view func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, view()) }
}

// answer writes a JSON body and ignores write errors: the caller has gone then.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
