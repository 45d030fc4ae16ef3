import { Component, type ReactNode } from 'react'

/** Boundary draws something else in place of what throws. */
export class Boundary extends Component<{ instead: (error: unknown) => ReactNode; children: ReactNode }, { failed?: { error: unknown } }> {
  override state: { failed?: { error: unknown } } = {}

  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } }
  }

  override render() {
    return this.state.failed ? this.props.instead(this.state.failed.error) : this.props.children
  }
}
