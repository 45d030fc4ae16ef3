package router

import (
	"fmt"
	"net/http"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// controlCustomers adds the paths for customers' devices, and for how the router speaks RADIUS.
func (s *Simulator) controlCustomers(mux *http.ServeMux) {
	mux.HandleFunc("GET /sim/routers/{name}/customers",
		control(s, func(r *Router, _ *http.Request, _ struct{}) (any, error) { return r.Customers(), nil }))
	mux.HandleFunc("GET /sim/routers/{name}/customers/{user}",
		control(s, func(r *Router, req *http.Request, _ struct{}) (any, error) {
			return r.customerNamed(req.PathValue("user"))
		}))
	mux.HandleFunc("PUT /sim/routers/{name}/customers/{user}",
		control(s, func(r *Router, req *http.Request, c handset.Customer) (any, error) {
			user := req.PathValue("user")
			if err := r.SwitchOn(user, c); err != nil {
				return nil, err
			}
			return r.customerNamed(user)
		}))
	mux.HandleFunc("PUT /sim/routers/{name}/customers/{user}/power",
		control(s, func(r *Router, req *http.Request, body struct {
			On bool `json:"on"`
		}) (any, error) {
			r.SetCustomer(req.PathValue("user"), body.On)
			return r.customerNamed(req.PathValue("user"))
		}))
	mux.HandleFunc("GET /sim/routers/{name}/radius/statistics",
		control(s, func(r *Router, _ *http.Request, _ struct{}) (any, error) {
			if r.nas == nil {
				return nil, errNoRADIUS
			}
			return r.nas.Statistics(), nil
		}))
	mux.HandleFunc("PUT /sim/routers/{name}/radius/faults",
		control(s, func(r *Router, _ *http.Request, f handset.Faults) (any, error) {
			if r.nas == nil {
				return nil, errNoRADIUS
			}
			return f, r.nas.SetFaults(f)
		}))
}

// errNoRADIUS is for routers without RouterConfig.RADIUS.
var errNoRADIUS = fmt.Errorf("this router asks no RADIUS server on this machine")

// customerNamed gives one device that is plugged in.
func (r *Router) customerNamed(user string) (CustomerState, error) {
	for _, c := range r.Customers() {
		if c.User == user {
			return c, nil
		}
	}
	return CustomerState{}, fmt.Errorf("router %s has no customer %s", r.cfg.Name, user)
}
