package httpapi

import (
	"net"
	"net/url"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// defaultPorts are the ports that a browser leaves out of Origin and Host.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// checkOrigin refuses mutations that a page of another host sends with our cookies (docs/rules/http.md#origin): sibling
// tenants are same-site, so SameSite=Lax does not keep them apart. Requests with a bearer token, callbacks and internal
// calls do not sign in by cookie and pass. Fails: bad_origin.
func (s *Server) checkOrigin(c *Call) error {
	if !c.route.mutates() || c.route.machine() || !c.hasCookies() {
		return nil
	}
	if _, present := bearer(c.Request); present {
		return nil
	}
	if !s.originFits(c) || c.Request.ContentLength != 0 && !c.hasType(c.route.Accepts) && !c.IsForm() {
		return failure.NewDenied("bad_origin",
			"A request with cookies must come from this host's own pages, with a body of type %s.", c.route.Accepts)
	}
	return nil
}

// FromOwnPage reports whether the request signs in by cookies, and comes from a page of this host.
func (c *Call) FromOwnPage() bool {
	_, present := bearer(c.Request)
	return !present && c.hasCookies() && c.server.checkOrigin(c) == nil
}

// hasCookies reports whether the request carries a token as a cookie.
func (c *Call) hasCookies() bool {
	for _, name := range []string{CookieAccess, CookieRefresh} {
		if _, err := c.Request.Cookie(name); err == nil {
			return true
		}
	}
	return false
}

// originFits reports whether the Origin header names this host. Without it, Sec-Fetch-Site must say that no other site
// sent the request; a request with neither header comes from a program and passes.
func (s *Server) originFits(c *Call) bool {
	origins := c.Request.Header.Values("Origin")
	if len(origins) == 0 {
		site := c.Request.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "same-origin" || site == "none"
	}
	u, err := url.Parse(origins[0])
	if len(origins) > 1 || err != nil || u.Host == "" || defaultPorts[u.Scheme] == "" ||
		s.cfg.Production && u.Scheme != "https" {
		return false
	}
	return hostPort(u.Host, u.Scheme) == hostPort(c.Request.Host, u.Scheme)
}

// hostPort is name:port in lower case, with the scheme's port when the host has none.
func hostPort(host, scheme string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), defaultPorts[scheme]
	}
	return strings.ToLower(net.JoinHostPort(name, port))
}
