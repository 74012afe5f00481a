package etcd

import (
	"context"
	"fmt"
	"net"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"google.golang.org/grpc"
)

// serveClients opens the port for etcd clients, if there is an address for it.
func (e *embedded) serveClients(address string) error {
	if address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("can't listen for etcd clients: %w", err)
	}
	e.clients = v3rpc.Server(e.server, nil, e.noteRevision, grpc.WaitForHandlers(true))
	go e.clients.Serve(listener) // until close
	return nil
}

// noteRevision lets current know what clients have written.
func (e *embedded) noteRevision(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	resp, err := handle(ctx, req)
	if r, ok := resp.(interface{ GetHeader() *pb.ResponseHeader }); ok && err == nil {
		e.state.raise(r.GetHeader().GetRevision())
	}
	return resp, err
}
