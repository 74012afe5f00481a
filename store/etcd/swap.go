package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/kubesim/kubesim/store"
)

// requestOverhead is what a write adds to its value at most: the key, thrice, and framing.
const requestOverhead = 64 << 10

// swap does op if key stands at revision, where 0 means that it does not
// exist, in one transaction. The new revision is 0 if it did nothing, as key
// stood at something else: the returned pair, nil if there was none.
func (s *Store) swap(ctx context.Context, key string, revision int64, op *pb.RequestOp) (int64, *mvccpb.KeyValue, error) {
	if err := s.usable(ctx); err != nil {
		return 0, nil, err
	}
	if len(op.GetRequestPut().GetValue()) > store.MaxValueSize {
		return 0, nil, store.ErrTooLarge
	}
	resp, err := s.backend.Txn(ctx, &pb.TxnRequest{
		Compare: []*pb.Compare{standsAt(key, revision)},
		Success: []*pb.RequestOp{op},
		Failure: orElse(key, revision),
	})
	if err != nil {
		return 0, nil, s.explain(ctx, err, 0)
	}
	s.state.raise(resp.Header.Revision)
	if resp.Succeeded {
		return resp.Header.Revision, nil, nil
	}
	for _, op := range resp.Responses {
		for _, kv := range op.GetResponseRange().GetKvs() {
			return 0, kv, nil
		}
	}
	return 0, nil, nil
}

// swapExisting is swap for a key that must exist.
func (s *Store) swapExisting(ctx context.Context, key string, revision int64, op *pb.RequestOp) (int64, error) {
	if revision <= 0 { // no key stands there, and 0 would mean something else to swap
		kv, err := s.Get(ctx, key, 0)
		if err != nil {
			return 0, err
		}
		return 0, &store.ConflictError{Current: kv}
	}
	newRevision, current, err := s.swap(ctx, key, revision, op)
	switch {
	case err != nil:
		return 0, err
	case newRevision != 0:
		return newRevision, nil
	case current == nil:
		return 0, store.ErrNotFound
	}
	return 0, &store.ConflictError{Current: keyValue(current)}
}

func standsAt(key string, revision int64) *pb.Compare {
	return &pb.Compare{
		Result:      pb.Compare_EQUAL,
		Target:      pb.Compare_MOD,
		Key:         []byte(key),
		TargetUnion: &pb.Compare_ModRevision{ModRevision: revision},
	}
}

// orElse reads what stands in the way of an update. A create has no use for it.
func orElse(key string, revision int64) []*pb.RequestOp {
	if revision == 0 {
		return nil
	}
	get := &pb.RangeRequest{Key: []byte(key)}
	return []*pb.RequestOp{{Request: &pb.RequestOp_RequestRange{RequestRange: get}}}
}

func put(key string, value []byte) *pb.RequestOp {
	req := &pb.PutRequest{Key: []byte(key), Value: value}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: req}}
}

func remove(key string) *pb.RequestOp {
	req := &pb.DeleteRangeRequest{Key: []byte(key)}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: req}}
}

func keyValue(kv *mvccpb.KeyValue) store.KeyValue {
	return store.KeyValue{Key: string(kv.Key), Value: kv.Value, Revision: kv.ModRevision}
}
