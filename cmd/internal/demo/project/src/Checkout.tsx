import React from 'react';
import { Button } from './parts/Button';

export interface CheckoutProps {
  address: string;
  onOrder: () => void;
}

export function Checkout({ address, onOrder }: CheckoutProps) {
  return <form><p>{address}</p><Button label="Order" onPress={onOrder} /></form>;
}
