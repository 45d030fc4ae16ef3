package httpapi

import (
	"context"
	"net"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Organization is the tenant that a host name stands for. The zero value is no tenant, as on the root host.
type Organization struct {
	ID        id.Organization
	Slug      string
	Name      string
	Suspended bool
}

// Organizations finds tenants by slug. It is asked at every request, so it answers from memory. Implementations are
// safe for concurrent use.
type Organizations interface {
	OrganizationBySlug(ctx context.Context, slug string) (org Organization, found bool, err error)
}

// hostName is a Host header in lower case, without port and final dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// resolveHost sets the kind of host and the slug. Only the Host header counts (docs/rules/http.md#hosts).
func (s *Server) resolveHost(c *Call) {
	c.host = hostName(c.Request.Host)
	slug, below := strings.CutSuffix(c.host, "."+s.cfg.ServiceDomain)
	switch {
	case c.host == s.cfg.ServiceDomain:
		c.hostKind = OnRoot
	case below && slug != "" && !strings.Contains(slug, "."):
		c.hostKind, c.Org.Slug = OnOrganization, slug
	default:
		c.hostKind, c.closed = onForeign, unknownHost
	}
}

// enterOrganization finds the organization of the host. Routes that exist on every host get none, since their tenant
// never comes from the host. Fails: not_found, organization_suspended.
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
		c.closed = unknownHost
		return errNoAddress()
	case org.Suspended:
		c.closed = suspendedHost
		return failure.NewDenied("organization_suspended", "This organization is suspended.")
	}
	c.Org = org
	return nil
}

// errNoAddress answers for a path without a route and for a host without an organization.
func errNoAddress() error {
	return failure.NewNotFound("not_found", "There is nothing at this address.")
}
