package httpapi

import (
	"context"
	"net"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Organization is what a host name says about the tenant.
type Organization struct {
	ID        id.Organization
	Slug      string
	Name      string
	Suspended bool
}

// Organizations finds tenants by slug, from memory: it is asked at every request.
type Organizations interface {
	OrganizationBySlug(ctx context.Context, slug string) (org Organization, found bool, err error)
}

// hostName is the Host header in lower case, without port and final dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// resolveHost tells the kind of host; the Host header alone counts (docs/rules/http.md#hosts).
func (s *Server) resolveHost(c *Call) {
	c.host = hostName(c.Request.Host)
	slug, below := strings.CutSuffix(c.host, "."+s.cfg.ServiceDomain)
	switch {
	case c.host == s.cfg.ServiceDomain:
		c.hostKind = OnRoot
	case below && slug != "" && !strings.Contains(slug, "."):
		c.hostKind, c.Org.Slug = OnOrganization, slug
	default:
		c.hostKind = onForeign
	}
}

// enterOrganization looks the tenant up. Routes of every host do not ask: their tenant is never the host's.
func (s *Server) enterOrganization(ctx context.Context, c *Call) error {
	if c.hostKind != OnOrganization || c.route.Hosts&onForeign != 0 {
		c.Org = Organization{}
		return nil
	}
	org, found, err := s.cfg.Organizations.OrganizationBySlug(ctx, c.Org.Slug)
	switch {
	case err != nil:
		return err
	case !found:
		return failure.NewNotFound("not_found", "There is nothing at this address.")
	case org.Suspended:
		return failure.NewDenied("organization_suspended", "This organization is suspended.")
	}
	c.Org = org
	return nil
}
