package messagegateway

import "crypto/x509"

// RequireTLS makes a mailer treat a server on this machine as one elsewhere, which these roots sign.
func (m *Mailer) RequireTLS(roots *x509.CertPool) { m.server.plain, m.server.roots = false, roots }
